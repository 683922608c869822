//! The fields of spans in the JSON log, written directly. The library's own formatter first sorts
//! copies of them in a tree, for every span of every request, even if no line is ever written in
//! it.

use std::fmt::{self, Debug, Write};

use tracing::field::{Field, Visit};
use tracing::span::Record;
use tracing_subscriber::field::RecordFields;
use tracing_subscriber::fmt::FormattedFields;
use tracing_subscriber::fmt::format::{FormatFields, Writer};

/// Formats a span's fields as one JSON object.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct JsonFields;

impl<'w> FormatFields<'w> for JsonFields {
    fn format_fields<R: RecordFields>(&self, mut writer: Writer<'w>, fields: R) -> fmt::Result {
        writer.write_char('{')?;
        let mut object = Object { out: &mut writer, is_empty: true, written: Ok(()) };
        fields.record(&mut object);
        object.written?;
        writer.write_char('}')
    }

    /// Readers of the object use the last of several members with one name.
    fn add_fields(
        &self,
        current: &'w mut FormattedFields<Self>,
        fields: &Record<'_>,
    ) -> fmt::Result {
        let out = &mut current.fields;
        if out.pop().is_none() {
            out.push('{');
        }
        let is_empty = out.len() == 1;
        let mut object = Object { out, is_empty, written: Ok(()) };
        fields.record(&mut object);
        object.written?;
        out.write_char('}')
    }
}

/// The inside of an object under construction.
struct Object<'a, W> {
    out: &'a mut W,
    is_empty: bool,
    written: fmt::Result,
}

impl<W: Write> Object<'_, W> {
    fn member(&mut self, field: &Field, value: impl FnOnce(&mut W) -> fmt::Result) {
        let comma = if std::mem::take(&mut self.is_empty) { "" } else { "," };
        let out = &mut *self.out;
        let member = |()| {
            // Names are literals of the code: nothing in them has to be escaped.
            write!(out, "{comma}\"{}\":", field.name().trim_start_matches("r#"))?;
            value(out)
        };
        self.written = self.written.and_then(member);
    }
}

impl<W: Write> Visit for Object<'_, W> {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.member(field, |out| text(out, format_args!("{value:?}")));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.member(field, |out| text(out, format_args!("{value}")));
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.member(field, |out| write!(out, "{value}"));
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.member(field, |out| write!(out, "{value}"));
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.member(field, |out| write!(out, "{value}"));
    }
}

fn text(out: &mut impl Write, value: fmt::Arguments<'_>) -> fmt::Result {
    out.write_char('"')?;
    Escaped(&mut *out).write_fmt(value)?;
    out.write_char('"')
}

/// Escapes a JSON text (RFC 8259, section 7).
struct Escaped<'a, W>(&'a mut W);

impl<W: Write> Write for Escaped<'_, W> {
    fn write_str(&mut self, mut text: &str) -> fmt::Result {
        let must_be = |c: char| c == '"' || c == '\\' || c < ' ';
        while let Some(at) = text.find(must_be) {
            let (plain, rest) = text.split_at(at);
            self.0.write_str(plain)?;
            let mut rest = rest.chars();
            rest.next().map_or(Ok(()), |c| match c {
                '"' | '\\' => write!(self.0, "\\{c}"),
                c => write!(self.0, "\\u{:04x}", u32::from(c)),
            })?;
            text = rest.as_str();
        }
        self.0.write_str(text)
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::{Arc, Mutex, PoisonError};

    use tracing_subscriber::fmt::MakeWriter;
    use tracing_subscriber::layer::SubscriberExt as _;
    use tracing_subscriber::{Layer as _, fmt as log};

    use super::*;

    #[derive(Clone, Default)]
    struct Lines(Arc<Mutex<Vec<u8>>>);

    impl io::Write for Lines {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap_or_else(PoisonError::into_inner).write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl<'a> MakeWriter<'a> for Lines {
        type Writer = Lines;

        fn make_writer(&'a self) -> Lines {
            self.clone()
        }
    }

    #[test]
    fn a_line_shows_the_fields_of_its_span_whatever_they_hold() {
        let lines = Lines::default();
        let layer =
            log::layer().json().flatten_event(true).with_span_list(false).fmt_fields(JsonFields);
        let layer = layer.with_writer(lines.clone()).boxed();
        tracing::subscriber::with_default(tracing_subscriber::registry().with(layer), || {
            let odd = "a\"b\\c\n\u{1}ü";
            let span = tracing::info_span!("s", text = odd, shown = %odd, count = 3_u64, below = -1, yes = true, late = "");
            let empty = tracing::info_span!("e", late = tracing::field::Empty);
            span.record("late", "there");
            empty.record("late", 7);
            span.in_scope(|| tracing::info!("one"));
            empty.in_scope(|| tracing::info!("two"));
        });
        let bytes = lines.0.lock().expect("a lock").clone();
        let shown: Vec<serde_json::Value> = String::from_utf8(bytes)
            .expect("UTF-8")
            .lines()
            .map(|line| {
                serde_json::from_str::<serde_json::Value>(line).expect("JSON")["span"].clone()
            })
            .collect();
        let odd = "a\"b\\c\n\u{1}ü";
        let one = serde_json::json!({
            "name": "s", "text": odd, "shown": odd, "count": 3, "below": -1, "yes": true, "late": "there"
        });
        assert_eq!(shown, [one, serde_json::json!({"name": "e", "late": 7})]);
    }
}
