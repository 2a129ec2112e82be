//! Lays questions and partials out in bytes; whatever another version wrote is refused.
//!
//! All numbers are little-endian.
//!
//! | bytes | question, partial |
//! | --- | --- |
//! | 16 | `barkeep question`, `barkeep partial\n` |
//! | 4, then that many | the program's version, UTF-8 |
//! | 32 | the plan's identity |
//! | 24 | the question's ticket |
//! | | what is asked; 4 the shard, 8 its records or persons, 4 the number of sums, 8 for each |

/// What tells plans apart, such as a hash of the spec: the driver's and every worker's must be the same.
pub type PlanIdentity = [u8; 32];

/// What tells the questions of a run apart; public, no two alike.
pub(super) type Ticket = [u8; 24];

const QUESTION: &[u8; 16] = b"barkeep question";
const PARTIAL: &[u8; 16] = b"barkeep partial\n";
/// Bits of records' terms may differ between versions, so workers have the driver's.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// One shard's exact integer sums, in bytes.
///
/// **Privacy.** A secret: exact sums over records, without noise. There is no `Debug`, `Clone`, `Serialize` or `PartialEq`.
/// [`Partial::into_bytes`] is for the engine that carries it from worker to driver, and for nothing else.
#[must_use = "a partial costs a pass over a shard"]
pub struct Partial(Vec<u8>);

impl Partial {
    /// Wraps bytes that came from a worker.
    pub fn from_bytes(bytes: Vec<u8>) -> Self {
        Self(bytes)
    }

    /// The bytes, for the wire.
    ///
    /// **Privacy.** Whoever reads them reads exact sums over the shard's records: never log, cache or store them.
    #[must_use]
    pub fn into_bytes(self) -> Vec<u8> {
        self.0
    }
}

/// What a question says before what it asks.
pub(super) fn question_head(plan: &PlanIdentity, ticket: &Ticket) -> Vec<u8> {
    head(QUESTION, plan, ticket)
}

/// Reads what [`question_head`] wrote: the ticket, and what follows.
///
/// # Errors
/// In public words: it is no question, or one of another version or plan.
pub(super) fn read_question<'a>(
    bytes: &'a [u8],
    plan: &PlanIdentity,
) -> Result<(Ticket, Reader<'a>), &'static str> {
    read_head(bytes, QUESTION, plan)
}

/// What a partial holds.
pub(super) struct Sums {
    pub(super) shard: u32,
    /// Records or persons of the shard.
    pub(super) records: u64,
    pub(super) sums: Vec<i64>,
}

impl Sums {
    pub(super) fn write(&self, plan: &PlanIdentity, ticket: &Ticket) -> Partial {
        let mut bytes = head(PARTIAL, plan, ticket);
        bytes.extend(self.shard.to_le_bytes());
        bytes.extend(self.records.to_le_bytes());
        length(&mut bytes, self.sums.len());
        self.sums.iter().for_each(|sum| bytes.extend(sum.to_le_bytes()));
        Partial(bytes)
    }

    /// Reads the answer to the question of a ticket.
    ///
    /// # Errors
    /// In public words.
    pub(super) fn read(
        partial: &Partial,
        plan: &PlanIdentity,
        ticket: &Ticket,
    ) -> Result<Self, &'static str> {
        let (answered, mut reader) = read_head(&partial.0, PARTIAL, plan)?;
        if answered != *ticket {
            return Err("a worker answered another question");
        }
        let mut read = || {
            let (shard, records) = (reader.four()?, reader.eight()?);
            let length = reader.four()?;
            let sums = (0..length).map(|_| reader.eight().map(u64::cast_signed)).collect::<Option<_>>()?;
            reader.is_at_end().then_some(Self { shard, records, sums })
        };
        read().ok_or("a worker's answer is damaged")
    }
}

fn head(kind: &[u8; 16], plan: &PlanIdentity, ticket: &Ticket) -> Vec<u8> {
    let mut bytes = kind.to_vec();
    length(&mut bytes, VERSION.len());
    bytes.extend(VERSION.as_bytes());
    bytes.extend(plan);
    bytes.extend(ticket);
    bytes
}

fn read_head<'a>(
    bytes: &'a [u8],
    kind: &[u8; 16],
    plan: &PlanIdentity,
) -> Result<(Ticket, Reader<'a>), &'static str> {
    let mut reader = Reader(bytes);
    let mut read = || {
        (reader.take()? == *kind).then_some(())?;
        let length = reader.four()? as usize;
        Some((reader.some(length)?, reader.take()?, reader.take()?))
    };
    let (version, of, ticket): (&[u8], PlanIdentity, Ticket) =
        read().ok_or("what came is neither a question nor an answer to one")?;
    if version != VERSION.as_bytes() {
        return Err("a worker has another version of barkeep than the driver");
    }
    if of != *plan {
        return Err("a worker has another plan than the driver");
    }
    Ok((ticket, reader))
}

/// Writes a number of entries.
pub(super) fn length(bytes: &mut Vec<u8>, length: usize) {
    // Nothing that is asked has 2^32 entries.
    bytes.extend(u32::try_from(length).unwrap_or(u32::MAX).to_le_bytes());
}

/// Bytes that are left to read.
pub(super) struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn some(&mut self, length: usize) -> Option<&'a [u8]> {
        let (first, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(first)
    }

    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.some(N)?.try_into().ok()
    }

    /// What `parse` finds at the start, with the number of bytes that are read then.
    pub(super) fn read<T>(&mut self, parse: impl FnOnce(&[u8]) -> Option<(T, usize)>) -> Option<T> {
        let (found, length) = parse(self.0)?;
        self.some(length).map(|_| found)
    }

    pub(super) fn byte(&mut self) -> Option<u8> {
        self.take().map(|[byte]| byte)
    }

    pub(super) fn four(&mut self) -> Option<u32> {
        self.take().map(u32::from_le_bytes)
    }

    pub(super) fn eight(&mut self) -> Option<u64> {
        self.take().map(u64::from_le_bytes)
    }

    pub(super) fn number(&mut self) -> Option<f64> {
        self.eight().map(f64::from_bits)
    }

    pub(super) fn is_at_end(&self) -> bool {
        self.0.is_empty()
    }
}
