//! What would be sent to a bank, by the code that sends it. Sends and stores nothing.

use std::io;
use std::path::Path;

use domain::rail::{Instruction, RailId};
use jiff::civil::Date;

use super::OurSide;
use super::files::sequence::Sequence;
use super::pain001::PaymentWriter;

/// One message as it would be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Preview {
    pub message_id: String,
    /// Its bytes: XML, except for a connector's, which is JSON.
    pub xml: String,
    /// Number of its payments.
    pub payments: usize,
    /// The date on which the bank is asked to execute it.
    pub execution_date: Date,
    /// Name of its file in the directory, if the rail has one.
    pub file_name: Option<String>,
}

/// The messages that would carry these instructions over a rail, with its `directory` if it has one.
///
/// # Errors
/// The directory's numbers cannot be read.
pub fn preview(
    rail: &RailId,
    ours: &OurSide,
    directory: Option<&Path>,
    batch: &[Instruction],
) -> io::Result<Vec<Preview>> {
    let writer = PaymentWriter { rail: rail.clone(), ours: ours.clone() };
    let mut previews = Vec::new();
    let mut rest = batch;
    for size in writer.split(batch) {
        let (part, after) = rest.split_at(size);
        rest = after;
        let message = writer.write(part);
        let date = writer.date(part);
        let template = &ours.profile.file_name;
        let file_name = match directory {
            Some(dir) if template.has_sequence() => {
                let before = u32::try_from(previews.len()).unwrap_or(u32::MAX);
                let number = Sequence::new(dir).next(date, &message.id)?;
                Some(template.of(rail, &message.id, date, number.saturating_add(before)))
            }
            Some(_) => Some(template.of(rail, &message.id, date, 0)),
            None => None,
        };
        previews.push(Preview {
            message_id: message.id,
            xml: message.xml,
            payments: size,
            execution_date: writer.execution_date(part),
            file_name,
        });
    }
    Ok(previews)
}
