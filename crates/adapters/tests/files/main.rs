//! Rails over files against the programs that banks run: OpenSSH's server and GnuPG.

mod acknowledgements;
mod pgp;
mod rig;
mod sftp;
