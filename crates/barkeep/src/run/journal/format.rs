//! Lays a journal out in bytes: a header, then one record for each answer; whatever was torn or damaged is noticed.
//!
//! All numbers are little-endian. A hash is a SHA-256, or as many of its first bytes as there is room for.
//!
//! | bytes | header |
//! | --- | --- |
//! | 16 | `barkeep journal\n` |
//! | 4 | version of this layout, 1 |
//! | 4, then that many | [`Header`] as JSON: the certificate as it stood before the first answer, and the public seeds |
//! | 4, then that many | the path of the records' file, UTF-8, and after a zero byte that of the ledger, if there is one; they may change, so the journal's digest leaves it out |
//! | 32 | hash of all before |
//!
//! | bytes | record |
//! | --- | --- |
//! | 4 | the chain that asked, from 0; the number of chains for the questions of the start |
//! | 1 | what was asked: 1 a decision, 2 a sum, 3 a choice; 4 ends the journal; 5 notes a lease |
//! | 4 | bytes of the answer |
//! | 16 | the question's [identity](super::identity) |
//! | 4 | hash of the record so far |
//! | | the answer: a byte 0 or 1; doubles; four bytes; for the end, the journal's digest; for a lease, its token |
//! | 16 | only under `--insecure-seed`: words of noise drawn so far |
//! | 8 | hash of the chain's digest up to here |
//!
//! A chain's digest starts from the header and its number, and each record extends it by itself. The journal's digest
//! covers all chains' digests in order, so it does not depend on which chain was faster. A lease is no answer, and in no digest: how often
//! a run was continued changes nothing that it says.

use super::identity::Identity;
use crate::run::certificate::Certificate;
use barkeep_files::hex::digits;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::io::{self, Read};

/// What a journal says before its first answer; all of it public.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Header {
    /// Seed of the proposals.
    pub(crate) seed: u64,
    /// Seed of the protecting randomness, where the run gave up privacy.
    pub(crate) insecure_seed: Option<u64>,
    /// The public key of whoever signs the certificate; absent where nobody does.
    pub(crate) signed_by: Option<String>,
    /// The certificate as it stood before the first answer: spec, bill and program.
    pub(crate) certificate: Certificate,
}

/// A whole hash.
pub(super) type Hash = [u8; 32];

const MAGIC: &[u8; 16] = b"barkeep journal\n";
const VERSION: u32 = 1;
/// Longer headers are no journal's.
const LONGEST_HEADER: u32 = 1 << 26;
/// Bytes of a record before its answer.
const HEAD: usize = 29;
/// Bytes of a record's last hash.
const CHECK: usize = 8;
/// Bytes of a position of seeded noise.
const POSITION: usize = 16;
/// Chains beyond this are no plan's.
const MOST_CHAINS: u64 = 1000;

/// What a record holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Decide,
    Sum,
    Choose,
    End,
    Lease,
}

impl Kind {
    const ALL: [(u8, Self); 5] =
        [(1, Self::Decide), (2, Self::Sum), (3, Self::Choose), (4, Self::End), (5, Self::Lease)];

    /// Whether it is an answer, of a chain.
    fn is_answer(self) -> bool {
        match self {
            Self::Decide | Self::Sum | Self::Choose => true,
            Self::End | Self::Lease => false,
        }
    }

    fn code(self) -> u8 {
        match self {
            Self::Decide => 1,
            Self::Sum => 2,
            Self::Choose => 3,
            Self::End => 4,
            Self::Lease => 5,
        }
    }

    fn of(code: u8) -> Option<Self> {
        Self::ALL.iter().find(|(known, _)| *known == code).map(|(_, kind)| *kind)
    }
}

/// One record, read or about to be written.
pub(super) struct Record {
    pub(super) chain: u32,
    pub(super) kind: Kind,
    pub(super) identity: Identity,
    pub(super) answer: Vec<u8>,
    pub(super) position: Option<u128>,
}

/// Why bytes are no journal that can be continued.
#[derive(Debug)]
pub(super) enum Fault {
    /// The file could not be read.
    Io(io::Error),
    /// What is wrong with its content.
    Content(String),
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

fn content<T>(reason: impl Into<String>) -> Result<T, Fault> {
    Err(Fault::Content(reason.into()))
}

fn hash(parts: &[&[u8]]) -> Hash {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update(part);
    }
    hash.finalize().into()
}

/// The digests of all chains, the start's last.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Digests {
    chains: Vec<(u64, Hash)>,
}

impl Digests {
    fn new(header: &[u8], chains: usize) -> Self {
        let chain =
            |number: usize| hash(&[MAGIC, &VERSION.to_le_bytes(), header, &(number as u64).to_le_bytes()]);
        Self { chains: (0..=chains).map(|number| (0, chain(number))).collect() }
    }

    /// How many answers each chain got.
    pub(super) fn answers(&self, chain: u32) -> u64 {
        self.chains.get(chain as usize).map_or(0, |(answers, _)| *answers)
    }

    /// A chain's digest extended by a record; none for a chain there is not.
    fn next(&self, chain: u32, record: &[u8]) -> Option<Hash> {
        self.chains.get(chain as usize).map(|(_, digest)| hash(&[digest, record]))
    }

    /// The hash whose first bytes end a record; none for a chain there is not.
    fn checked(&self, record: &Record, bytes: &[u8]) -> Option<Hash> {
        if record.kind.is_answer() { self.next(record.chain, bytes) } else { Some(hash(&[bytes])) }
    }

    /// Takes a chain's extended digest.
    fn take(&mut self, chain: u32, next: Hash) {
        if let Some((answers, digest)) = self.chains.get_mut(chain as usize) {
            (*answers, *digest) = (*answers + 1, next);
        }
    }

    /// The journal's digest.
    pub(super) fn all(&self) -> Hash {
        let mut all = Sha256::new();
        for (answers, digest) in &self.chains {
            all.update(answers.to_le_bytes());
            all.update(digest);
        }
        all.finalize().into()
    }
}

/// The first bytes of a hash.
fn first(hash: &Hash) -> [u8; CHECK] {
    let [a, b, c, d, e, f, g, h, ..] = *hash;
    [a, b, c, d, e, f, g, h]
}

/// The bytes of a new journal, and its digests.
pub(super) fn header_bytes(header: &Header, place: &str) -> Result<(Vec<u8>, Digests), serde_json::Error> {
    let json = serde_json::to_vec(header)?;
    let mut bytes = MAGIC.to_vec();
    bytes.extend(VERSION.to_le_bytes());
    for part in [&json[..], place.as_bytes()] {
        bytes.extend(u32::try_from(part.len()).unwrap_or(u32::MAX).to_le_bytes());
        bytes.extend(part);
    }
    bytes.extend(hash(&[&bytes]));
    let chains = usize::try_from(header.certificate.chains).unwrap_or(0);
    Ok((bytes, Digests::new(&json, chains)))
}

impl Record {
    /// Appends the record's bytes, and extends the digest of its chain by it.
    ///
    /// **Privacy.** How many bytes they are depends on the question alone.
    pub(super) fn write(&self, digests: &mut Digests, bytes: &mut Vec<u8>) -> io::Result<()> {
        bytes.clear();
        bytes.extend(self.chain.to_le_bytes());
        bytes.push(self.kind.code());
        bytes.extend(u32::try_from(self.answer.len()).map_err(io::Error::other)?.to_le_bytes());
        bytes.extend(self.identity);
        bytes.extend(&hash(&[bytes])[..4]);
        bytes.extend(&self.answer);
        if let Some(position) = self.position {
            bytes.extend(position.to_le_bytes());
        }
        let next =
            digests.checked(self, bytes).ok_or_else(|| io::Error::other("a chain that was not planned"))?;
        if self.kind.is_answer() {
            digests.take(self.chain, next);
        }
        bytes.extend(first(&next));
        Ok(())
    }
}

/// The header of a journal, and how many bytes it takes.
pub(super) struct Opening {
    pub(super) header: Header,
    pub(super) place: String,
    pub(super) digests: Digests,
    pub(super) length: u64,
}

/// Reads the header.
pub(super) fn read_header(file: &mut impl Read) -> Result<Opening, Fault> {
    // The header is on the disk before the certificate, and the certificate before the first answer.
    const TORN: &str = "its header is not whole, so there is no run to continue; where no certificate lies beside it nothing \
                        was spent, and where one does it counts as spent";
    let mut bytes = vec![0; MAGIC.len() + 4];
    let torn = |error: io::Error| match error.kind() {
        io::ErrorKind::UnexpectedEof => Fault::Content(TORN.to_owned()),
        _ => Fault::Io(error),
    };
    file.read_exact(&mut bytes).map_err(torn)?;
    if !bytes.starts_with(MAGIC) {
        return content("it is no journal of barkeep's");
    }
    let version = bytes[MAGIC.len()..].try_into().map_or(0, u32::from_le_bytes);
    if version != VERSION {
        return content(format!("its layout is version {version}; this program reads version {VERSION}"));
    }
    let mut part = |bytes: &mut Vec<u8>| {
        let mut length = [0; 4];
        file.read_exact(&mut length).map_err(torn)?;
        let count = u32::from_le_bytes(length);
        if count > LONGEST_HEADER {
            return content("its header is damaged");
        }
        let mut content = Vec::new();
        (&mut *file).take(count.into()).read_to_end(&mut content)?;
        if content.len() < count as usize {
            return Err(Fault::Content(TORN.to_owned()));
        }
        bytes.extend(length);
        bytes.extend(&content);
        Ok(content)
    };
    let json = part(&mut bytes)?;
    let place = part(&mut bytes)?;
    let mut check = Hash::default();
    file.read_exact(&mut check).map_err(torn)?;
    let length = (bytes.len() + check.len()) as u64;
    let (Ok(header), Ok(place)) = (serde_json::from_slice::<Header>(&json), String::from_utf8(place)) else {
        return content("its header is damaged");
    };
    if check != hash(&[&bytes]) || header.certificate.chains > MOST_CHAINS {
        return content("its header is damaged");
    }
    let digests = Digests::new(&json, usize::try_from(header.certificate.chains).unwrap_or(0));
    Ok(Opening { header, place, digests, length })
}

/// How a record could not be read.
pub(super) enum Broken {
    /// The file could not be read.
    Io(io::Error),
    /// Its head is whole and asks for this many bytes, which are not there or not whole.
    Body(u64),
    /// Its head is not there or not whole.
    Head,
}

/// Reads the next record, of which at most `left` bytes remain; nothing at the end of the file.
///
/// The last hash is checked by whoever has the chain's digest: the bytes it covers are left in `bytes`.
pub(super) fn read_record(
    file: &mut impl Read,
    left: u64,
    seeded: bool,
    bytes: &mut Vec<u8>,
) -> Result<Option<(Record, [u8; CHECK])>, Broken> {
    bytes.clear();
    if left == 0 {
        return Ok(None);
    }
    let io = |error: io::Error| match error.kind() {
        io::ErrorKind::UnexpectedEof => Broken::Head,
        _ => Broken::Io(error),
    };
    let mut head = [0; HEAD];
    if left < HEAD as u64 {
        return Err(Broken::Head);
    }
    file.read_exact(&mut head).map_err(io)?;
    let (covered, check) = head.split_at(HEAD - 4);
    let (chain, rest) = covered.split_at(4);
    let (code, rest) = rest.split_at(1);
    let (count, identity) = rest.split_at(4);
    let number = |bytes: &[u8]| bytes.try_into().map_or(0, u32::from_le_bytes);
    if check != &hash(&[covered])[..4] {
        return Err(Broken::Head);
    }
    let (Some(kind), Ok(identity)) = (Kind::of(code[0]), identity.try_into()) else {
        return Err(Broken::Head);
    };
    let seeded = seeded && kind.is_answer();
    let answer = u64::from(number(count));
    let whole = HEAD as u64 + answer + CHECK as u64 + if seeded { POSITION as u64 } else { 0 };
    if whole > left {
        return Err(Broken::Body(whole));
    }
    bytes.extend(head);
    let body = whole - (HEAD + CHECK) as u64;
    file.take(body).read_to_end(bytes).map_err(Broken::Io)?;
    let mut check = [0; CHECK];
    if bytes.len() as u64 != HEAD as u64 + body || file.read_exact(&mut check).is_err() {
        return Err(Broken::Body(whole));
    }
    let (answer, position) = bytes[HEAD..].split_at(number(count) as usize);
    let position = seeded.then(|| position.try_into().map_or(0, u128::from_le_bytes));
    Ok(Some((Record { chain: number(chain), kind, identity, answer: answer.to_vec(), position }, check)))
}

/// What all of a journal says.
pub(super) struct Scan {
    pub(super) opening: Opening,
    /// Bytes that are whole.
    pub(super) whole: u64,
    /// Bytes of a torn tail.
    pub(super) torn: u64,
    /// Whether the run ended.
    pub(super) ended: bool,
    /// The tokens of its leases.
    pub(super) leases: Vec<String>,
}

/// Reads a whole journal of `length` bytes and checks every hash.
///
/// A record that is not whole may be the tail that a killed machine left: at most one record of each chain was on its
/// way. More than that was there before and is damaged now.
pub(super) fn scan(file: &mut impl Read, length: u64) -> Result<Scan, Fault> {
    let mut opening = read_header(file)?;
    let seeded = opening.header.insecure_seed.is_some();
    let chains = opening.header.certificate.chains;
    let (mut at, mut longest, mut bytes) = (opening.length, (HEAD + CHECK) as u64, Vec::new());
    let mut leases = Vec::new();
    loop {
        let left = length.saturating_sub(at);
        let broken = match read_record(file, left, seeded, &mut bytes) {
            Ok(None) => return Ok(Scan { opening, whole: at, torn: 0, ended: false, leases }),
            Ok(Some((record, check))) => {
                let size = (bytes.len() + CHECK) as u64;
                let next = opening.digests.checked(&record, &bytes);
                match next.filter(|next| first(next) == check) {
                    None => Broken::Body(size),
                    Some(_) if record.kind == Kind::End => {
                        if record.answer != opening.digests.all() || at + size != length {
                            return content(
                                "it is damaged: it goes on after its end, or ends with another digest",
                            );
                        }
                        return Ok(Scan { opening, whole: length, torn: 0, ended: true, leases });
                    }
                    Some(next) => {
                        match record.kind {
                            Kind::Lease => leases.push(digits(&record.answer)),
                            Kind::Decide | Kind::Sum | Kind::Choose | Kind::End => {
                                opening.digests.take(record.chain, next);
                            }
                        }
                        at += size;
                        longest = longest.max(size);
                        continue;
                    }
                }
            }
            Err(broken) => broken,
        };
        let in_flight = match broken {
            Broken::Io(error) => return Err(Fault::Io(error)),
            Broken::Body(size) if size > left => u64::MAX,
            Broken::Body(size) => chains.max(1).saturating_mul(longest.max(size)),
            Broken::Head if left < HEAD as u64 => u64::MAX,
            Broken::Head => chains.max(1).saturating_mul(longest),
        };
        if left > in_flight {
            return content(format!(
                "it is damaged {at} bytes from its start, amid answers that were released: they cannot be replayed"
            ));
        }
        return Ok(Scan { opening, whole: at, torn: left, ended: false, leases });
    }
}
