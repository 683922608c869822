//! Evidence files of a case: uploads, and downloads that browsers save and never open as a page.

use axum::body::Body;
use domain::audit::{Facts, Note};
use domain::case_file::{CASE_FILE_MAX_BYTES, CASE_FILES_MAX, CaseFile};
use engine::console::StoredFile;
use engine::payments::StoreError;
use http::{HeaderValue, header};
use uuid::Uuid;

use super::answer::{Answer, Stop, download};
use super::cases::Case;
use super::parts::{Cell, Table};
use super::routes::Routes;
use super::view::{Field, FormView, Section};
use super::visit::Visit;

const ADD: &str = "/console/t/{tenant}/cases/{kind}/{id}/files";
const FILE: &str = "/console/t/{tenant}/cases/{kind}/{id}/files/{file}";
/// Types that the browser offers; the content decides.
const ACCEPT: &str = ".pdf,.png,.jpg,.jpeg,application/pdf,image/png,image/jpeg";
/// A file runs nothing and loads nothing, also if a browser shows it.
const ALONE: HeaderValue = HeaderValue::from_static("default-src 'none'; sandbox");
/// Characters of a download's name that every system accepts.
const NAME_SIGNS: [char; 4] = ['-', '_', '.', ' '];

pub(super) fn routes() -> Routes {
    Routes::new().post(ADD, add).get(FILE, show)
}

/// The files of a case, with the form to add one.
pub(super) async fn section(visit: &Visit, case: Case) -> Result<Section, Stop> {
    let found = visit.console().store().case_files(visit.tenant_id()?, case.id()).await?;
    let may_open = visit.may_use("GET", FILE);
    let row = |file: &StoredFile| {
        let name = match may_open {
            true => Cell::link(case.href(visit, &format!("/files/{}", file.id)), &file.name),
            false => Cell::text(&file.name),
        };
        vec![
            name,
            Cell::text(file.kind.name().to_uppercase()),
            Cell::number(size(file.size)),
            Cell::text(&file.author),
            Cell::When(file.at),
            Cell::id(&file.hash),
        ]
    };
    let rows = found.iter().map(row).collect();
    let head = ["File", "Type", "Size", "User", "Time", "SHA-256"];
    let table = Table::new("Files", &head, rows).or("No files yet.");
    let mut forms = Vec::new();
    if visit.may_use("POST", ADD) && found.len() < CASE_FILES_MAX {
        let says = format!(
            "PDF, PNG or JPEG, at most {} MiB. Files stay with the case, encrypted, and cannot be changed.",
            CASE_FILE_MAX_BYTES / (1024 * 1024)
        );
        let form = FormView::new("file", "Add a file", case.href(visit, "/files"), "Add file");
        forms.push(form.says(says).field(Field::file("file", "File", ACCEPT)));
    }
    Ok(Section { title: "Files".to_owned(), table: Some(table), forms, ..Section::default() })
}

/// A size in whole KiB or MiB, rounded up.
fn size(bytes: u64) -> String {
    match bytes.div_ceil(1024) {
        kib @ ..1024 => format!("{kib} KiB"),
        kib => format!("{}.{} MiB", kib / 1024, kib % 1024 * 10 / 1024),
    }
}

async fn add(visit: Visit) -> Answer {
    let case = Case::asked(&visit).await?;
    let upload = visit.form().file();
    let (name, bytes) =
        upload.map_or(("", Vec::new()), |file| (file.name.as_str(), file.bytes.clone()));
    let wrong = |rule| Stop::wrong("file", format!("File: {rule}."));
    let file = CaseFile::parse(name, bytes).map_err(wrong)?;
    let store = visit.console().store();
    let added = store.add_case_file(case.named(&visit)?, &file, visit.deed("")).await;
    added.map_err(|error| match error {
        StoreError::Conflict(_) => {
            Stop::Refused(format!("A case has at most {CASE_FILES_MAX} files."))
        }
        other => other.into(),
    })?;
    Ok(visit.done(&case.home(&visit), "The file is added."))
}

async fn show(visit: Visit) -> Answer {
    let case = Case::asked(&visit).await?;
    let (store, tenant) = (visit.console().store(), visit.tenant_id()?);
    let id = Uuid::parse_str(visit.param("file")).map_err(|_| Stop::NotFound)?;
    let all = store.case_files(tenant, case.id()).await?;
    let file = all.into_iter().find(|file| file.id == id).ok_or(Stop::NotFound)?;
    let bytes = store.case_file_content(tenant, case.id(), &file).await?;
    let facts = Facts::new().text("file", file.id).text("sha256", &file.hash);
    visit.took(Note::new("export.case_file", case.kinds().1, case.id()).after(facts)).await?;
    let mut response = download(&name_of(&file), file.kind.media_type(), Body::from(bytes));
    response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, ALONE);
    Ok(response)
}

/// The name of a download, which ends as its content is.
fn name_of(file: &StoredFile) -> String {
    let kind = file.kind.name();
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || NAME_SIGNS.contains(&letter);
    let name: String =
        file.name.chars().map(|letter| if is_plain(letter) { letter } else { '_' }).collect();
    match name.rsplit_once('.') {
        Some((stem, end)) if end.eq_ignore_ascii_case(kind) => format!("{stem}.{kind}"),
        Some((stem, end)) if end.eq_ignore_ascii_case("jpg") && kind == "jpeg" => {
            format!("{stem}.{kind}")
        }
        _ => format!("{name}.{kind}"),
    }
}

#[cfg(test)]
mod tests {
    use domain::case_file::FileKind;
    use domain::time::Timestamp;

    use super::*;

    #[test]
    fn a_download_is_named_after_its_content() {
        for (name, kind, download) in [
            ("passport.pdf", FileKind::Pdf, "passport.pdf"),
            ("photo.JPG", FileKind::Jpeg, "photo.jpeg"),
            ("page.html", FileKind::Png, "page.html.png"),
            ("a\"b\r\n;é", FileKind::Pdf, "a_b____.pdf"),
        ] {
            let (id, author, hash) = (Uuid::nil(), String::new(), String::new());
            let (at, name) = (Timestamp(0), name.to_owned());
            let file = StoredFile { id, at, author, kind, size: 1, hash, name };
            assert_eq!(name_of(&file), download);
        }
    }

    #[test]
    fn sizes_are_short() {
        for (bytes, shown) in [(1, "1 KiB"), (1_048_576, "1.0 MiB"), (4_000_000, "3.8 MiB")] {
            assert_eq!(size(bytes), shown);
        }
    }
}
