//! Writes draws as CSV: a header, then one line per draw, chain after chain.

use super::{Format, Heading, Opened, Rows, Storage};
use crate::run::draws::{CHAIN_COLUMN, DRAW_COLUMN, WARMUP_COLUMN};
use std::fs::File;
use std::io::{self, BufWriter};

/// The format.
pub(crate) const FORMAT: Format = Format { name: "draws.csv", open };

struct Csv<'a> {
    heading: &'a Heading,
    writer: csv::Writer<&'a mut BufWriter<File>>,
}

fn open<'a>(heading: &'a Heading, file: &'a mut BufWriter<File>) -> Opened<'a> {
    let mut writer = csv::Writer::from_writer(file);
    let names = heading.names().map(String::as_str);
    writer.write_record([CHAIN_COLUMN, DRAW_COLUMN, WARMUP_COLUMN].into_iter().chain(names))?;
    Ok(Box::new(Csv { heading, writer }))
}

impl Storage for Csv<'_> {
    fn append(&mut self, rows: &Rows<'_>) -> io::Result<()> {
        for (draw, row) in (rows.first..).zip(rows.values.chunks_exact(self.heading.width())) {
            self.writer.serialize((rows.chain + 1, draw + 1, draw < self.heading.warmup, row))?;
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> io::Result<()> {
        self.writer.flush()
    }
}
