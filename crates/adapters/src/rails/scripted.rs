//! A scripted bank over plain TCP, and sample instructions, for the tests of rails.

use std::sync::{Arc, Mutex};

use domain::currency::Currency;
use domain::ids::{AttemptId, PaymentId, TenantId};
use domain::money::Money;
use domain::rail::{Inquiry, Instruction, InstructionParty, RailId};
use domain::time::Timestamp;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use uuid::Uuid;

/// A bank that answers every request with the same bytes and closes; `None`: it never answers.
pub(super) struct Bank {
    pub(super) url: String,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Bank {
    pub(super) async fn answering(answer: Option<Vec<u8>>) -> Bank {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!("http://{}/api/", listener.local_addr().expect("bound"));
        let requests = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&requests);
        tokio::spawn(async move {
            let mut held = Vec::new();
            while let Ok((mut stream, _)) = listener.accept().await {
                let request = read_request(&mut stream).await;
                seen.lock().expect("unpoisoned").push(request);
                match &answer {
                    Some(answer) => {
                        // The client may close before it has read everything.
                        let _ = stream.write_all(answer).await;
                        let _ = stream.shutdown().await;
                    }
                    None => held.push(stream),
                }
            }
        });
        Bank { url, requests }
    }

    pub(super) fn requests(&self) -> Vec<String> {
        self.requests.lock().expect("unpoisoned").clone()
    }
}

async fn read_request(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    let mut chunk = [0; 4096];
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| {
                line.to_lowercase().strip_prefix("content-length: ")?.parse().ok()
            });
            if body.len() >= length.unwrap_or(0) {
                return text;
            }
        }
        match stream.read(&mut chunk).await.expect("readable") {
            0 => return text,
            count => bytes.extend_from_slice(&chunk[..count]),
        }
    }
}

pub(super) fn http(status: &str, headers: &str, body: &str) -> Option<Vec<u8>> {
    let length = body.len();
    Some(
        format!("HTTP/1.1 {status}\r\nconnection: close\r\ncontent-length: {length}\r\n{headers}\r\n{body}")
            .into_bytes(),
    )
}

pub(super) fn instruction(number: u128) -> Instruction {
    Instruction {
        rail: RailId::new("pak-raast"),
        tenant: TenantId(Uuid::nil()),
        payment: PaymentId(Uuid::from_u128(100 + number)),
        attempt: AttemptId(Uuid::from_u128(number)),
        amount: Money::new(100, Currency::Pkr),
        created_at: Timestamp(0),
        debtor: InstructionParty::default(),
        creditor: InstructionParty::default(),
        creditor_account: "1".into(),
        creditor_account_is_iban: false,
        creditor_account_type: "SVGS",
        creditor_bic: None,
        creditor_local_code: None,
        creditor_bank: String::new(),
        purpose: "FAMI".into(),
        names: domain::rail::NameForm::Whole,
        source_of_funds: None,
        remittance: String::new(),
    }
}

pub(super) fn inquiry(number: u128) -> Inquiry {
    let Instruction { payment, attempt, created_at, .. } = instruction(number);
    Inquiry { payment, attempt, created_at, recalls: Vec::new() }
}
