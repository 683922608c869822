//! Files with personal data that a command writes: readable by their owner only, and under their
//! name only once they are complete.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use super::failure::Failure;

/// A file being written. Dropped before [`NewFile::finish`] it leaves an earlier one as it was.
pub struct NewFile {
    file: File,
    path: PathBuf,
    /// `None` for a device or a pipe, which cannot be replaced.
    partial: Option<PathBuf>,
}

impl NewFile {
    pub fn create(path: &Path) -> Result<NewFile, Failure> {
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(true).mode(0o600);
        let is_replaced = std::fs::metadata(path).map_or(true, |known| known.is_file());
        let partial = is_replaced.then(|| {
            let mut partial = path.as_os_str().to_owned();
            partial.push(format!(".{}.part", uuid::Uuid::new_v4().simple()));
            PathBuf::from(partial)
        });
        let file = options.open(partial.as_deref().unwrap_or(path));
        let file = file.map_err(|error| failed(path, &error))?;
        Ok(NewFile { file, path: path.to_owned(), partial })
    }

    pub fn finish(mut self) -> Result<(), Failure> {
        let Some(partial) = self.partial.as_ref() else { return Ok(()) };
        let done = self.file.sync_all().and_then(|()| std::fs::rename(partial, &self.path));
        done.map_err(|error| failed(&self.path, &error))?;
        self.partial = None;
        Ok(())
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        if let Some(partial) = &self.partial {
            // A partial file is useless; the failure that led here is the informative one.
            drop(std::fs::remove_file(partial));
        }
    }
}

impl Write for NewFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

fn failed(path: &Path, error: &io::Error) -> Failure {
    // `corridor-admin` works in another directory than its caller's.
    let whole = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    Failure::Usage(format!("{}: {error}", whole.display()))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn an_earlier_file_stays_until_the_new_one_is_complete() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("november.csv");
        std::fs::write(&path, "earlier").expect("written");
        let text = || std::fs::read_to_string(&path).expect("read");
        let mut abandoned = NewFile::create(&path).expect("created");
        abandoned.write_all(b"half").expect("written");
        drop(abandoned);
        assert_eq!(text(), "earlier");
        let mut complete = NewFile::create(&path).expect("created");
        complete.write_all(b"new").expect("written");
        assert_eq!(text(), "earlier");
        complete.finish().expect("finished");
        assert_eq!(text(), "new");
        let mode = std::fs::metadata(&path).expect("there").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        assert_eq!(std::fs::read_dir(dir.path()).expect("read").count(), 1, "nothing is left");
    }

    #[test]
    fn a_device_is_written_to() {
        let mut null = NewFile::create(Path::new("/dev/null")).expect("opened");
        null.write_all(b"x").expect("written");
        null.finish().expect("finished");
    }
}
