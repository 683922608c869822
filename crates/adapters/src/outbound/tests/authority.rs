//! A private certificate authority, for tests of this crate and, by path, of the server.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    date_time_ymd,
};

pub struct Authority {
    issuer: Issuer<'static, KeyPair>,
    /// Its own certificate.
    pub pem: String,
}

/// A certificate and its key, in PEM.
pub struct Issued {
    pub certificate: String,
    pub key: String,
}

const A_DAY: Duration = Duration::from_secs(86_400);

impl Authority {
    pub fn new() -> Authority {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let mut params = CertificateParams::default();
        let name = format!("Private Authority {}", NUMBER.fetch_add(1, Ordering::Relaxed));
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().expect("a key");
        let pem = params.self_signed(&key).expect("a certificate").pem();
        Authority { issuer: Issuer::new(params, key), pem }
    }

    /// A server's certificate for these names or addresses.
    pub fn server(&self, names: &[&str]) -> Issued {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let params = CertificateParams::new(names).expect("names");
        self.issue(params, ExtendedKeyUsagePurpose::ServerAuth, A_DAY)
    }

    /// A client's certificate.
    pub fn client(&self, name: &str) -> Issued {
        self.client_for(name, A_DAY)
    }

    /// A client's certificate that expires after `lifetime`.
    pub fn client_for(&self, name: &str, lifetime: Duration) -> Issued {
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, name);
        self.issue(params, ExtendedKeyUsagePurpose::ClientAuth, lifetime)
    }

    fn issue(
        &self,
        mut params: CertificateParams,
        purpose: ExtendedKeyUsagePurpose,
        lifetime: Duration,
    ) -> Issued {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970");
        params.extended_key_usages = vec![purpose];
        params.not_before = date_time_ymd(1970, 1, 1) + (now - A_DAY);
        params.not_after = date_time_ymd(1970, 1, 1) + now + lifetime;
        let key = KeyPair::generate().expect("a key");
        let certificate = params.signed_by(&key, &self.issuer).expect("a certificate");
        Issued { certificate: certificate.pem(), key: key.serialize_pem() }
    }
}
