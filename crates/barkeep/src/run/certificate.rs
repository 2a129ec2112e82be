//! States what a run guarantees, before its first answer, so that anyone can compute the bill again.

use crate::Error;
use crate::models::TEXT_MODEL;
use crate::plan::{Bill, DEFAULT_SAMPLER, Plan};
use crate::run::folder::{DRAWS_CSV, DRAWS_PARQUET, SUMMARY};
use crate::run::journal::{self, JOURNAL};
use crate::signature::{PublicKey, Signature, SigningKey};
use crate::spec::{OWN, Privacy, Spec, whose};
use barkeep_accounting::{Delta, Epsilon, Mechanism, Neighbours, Risk};
use barkeep_data::{Records, Unit};
use barkeep_files::hex::digits;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// What a run guarantees and under which premises. Written before the first answer; steps actually used are
/// noted afterwards as information, never as a smaller ε: whoever stops a run has seen part of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Certificate {
    /// Version of this file's layout.
    pub format: u32,
    /// The guarantee in one sentence, or that there is none.
    pub statement: String,
    /// Whether there is a guarantee at all.
    pub private: bool,
    /// Whether the protecting randomness was seeded, so that anyone can replay it.
    pub insecure_seed: bool,
    /// ε, an upper bound; absent without a guarantee.
    pub epsilon: Option<f64>,
    /// δ; absent without a guarantee.
    pub delta: Option<f64>,
    /// Which data sets are hard to tell apart; absent without a guarantee.
    pub neighbours: Option<Neighbours>,
    /// What is accounted for: the bits alone, or the noisy numbers behind them; absent where nothing is decided.
    pub level: Option<String>,
    /// The costs the run may charge, from which ε follows; absent without a guarantee.
    pub bill: Option<Bill>,
    /// What the bill means for one person; absent without a guarantee, and where no accountant follows its curve.
    pub meaning: Option<Risk>,
    /// What leaves the curator.
    pub released: Vec<String>,
    /// What was assumed public.
    pub public: Vec<String>,
    /// What the guarantee rests on.
    pub premises: Vec<String>,
    /// What a neighbouring data set differs in.
    pub unit: Unit,
    /// The column that says whose row it is; absent where a row is a record by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub person: Option<String>,
    /// Which data set it is, as its custodian calls it; absent where the spec does not say.
    pub data_id: Option<String>,
    /// The account of a custodian's ledger that paid; absent where the spec names none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub charged: Option<Charged>,
    /// Number of records, or of persons; the number of their rows is not public.
    pub records: Records,
    /// The model's name; of a model of one's own, its type's.
    pub model: String,
    /// The sampler's name.
    pub sampler: String,
    /// Number of chains.
    pub chains: u64,
    /// Steps each chain may make.
    pub steps_per_chain: u64,
    /// Steps each chain made; absent until the run has ended.
    pub steps_used: Option<Vec<u64>>,
    /// The program that ran.
    pub program: Program,
    /// The spec, word for word, or with the columns of its schema file written in.
    pub spec: String,
    /// Binds the files beside it; absent until the run has ended or was interrupted.
    pub hashes: Option<Hashes>,
    /// Who vouches for all of the above; absent where no key was given.
    pub signature: Option<Signature>,
}

/// Which reservation of which account pays for a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Charged {
    /// The account.
    pub account: String,
    /// The run's name in the ledger, 32 hexadecimal digits.
    pub run: String,
}

/// SHA-256 of each file a run leaves, in hexadecimal digits: an edited file does not fit its certificate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hashes {
    /// Of `draws.csv`.
    pub draws_csv: String,
    /// Of `draws.parquet`.
    pub draws_parquet: String,
    /// Of `summary.json`.
    pub summary: String,
    /// The digest of `journal.bin`, which does not depend on which chain was faster; absent where none was kept.
    pub journal: Option<String>,
}

impl Hashes {
    /// The files that are bound.
    const FILES: [&'static str; 4] = [DRAWS_CSV, DRAWS_PARQUET, SUMMARY, JOURNAL];

    /// Of the files in a folder.
    ///
    /// # Errors
    /// [`Error::Read`] if one cannot be read.
    pub(crate) fn of(folder: &Path, journal: Option<String>) -> Result<Self, Error> {
        Ok(Self {
            draws_csv: file_hash(&folder.join(DRAWS_CSV))?,
            draws_parquet: file_hash(&folder.join(DRAWS_PARQUET))?,
            summary: file_hash(&folder.join(SUMMARY))?,
            journal,
        })
    }
}

/// SHA-256 of a file, or a journal's digest.
fn file_hash(path: &Path) -> Result<String, Error> {
    if path.ends_with(JOURNAL) {
        return match journal::digest(path) {
            // One that is torn or damaged is not what the run left.
            Err(Error::Journal { .. }) => Ok(String::new()),
            other => other,
        };
    }
    let fail =
        |error: io::Error| Error::Read { path: path.display().to_string(), reason: error.kind().to_string() };
    let (mut file, mut hash) = (File::open(path).map_err(fail)?, Sha256::new());
    let mut buffer = vec![0; 1 << 16];
    loop {
        match file.read(&mut buffer).map_err(fail)? {
            0 => return Ok(digits(&hash.finalize())),
            read => hash.update(&buffer[..read]),
        }
    }
}

/// The program that ran.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Program {
    /// Name and version.
    pub version: String,
    /// Processor architecture and operating system.
    pub target: String,
    /// `release`, or `debug` when built with debug assertions.
    pub build: String,
    /// The commit it was built from, with `-modified` where files differed; `unknown` outside a checkout and in debug
    /// builds.
    pub commit: String,
    /// Features it was built with.
    pub features: Vec<String>,
}

impl fmt::Display for Program {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} ({}, {}, commit {}", self.version, self.target, self.build, self.commit)?;
        for feature in &self.features {
            write!(out, ", {feature}")?;
        }
        out.write_str(")")
    }
}

impl Program {
    fn this() -> Self {
        Self {
            version: concat!("barkeep ", env!("CARGO_PKG_VERSION")).to_owned(),
            target: format!("{}-{}", std::env::consts::ARCH, std::env::consts::OS),
            build: if cfg!(debug_assertions) { "debug" } else { "release" }.to_owned(),
            commit: env!("BARKEEP_COMMIT").to_owned(),
            features: env!("BARKEEP_FEATURES").split_terminator(',').map(str::to_owned).collect(),
        }
    }
}

const FORMAT: u32 = 4;

/// How far what a bill means may be from what another machine computes of it, relative: both make the same lattices, whose ends rounding
/// may move.
const MEANING_TOLERANCE: f64 = 2e-3;

impl Certificate {
    /// The certificate of a plan, as it stands before the first answer.
    ///
    /// **Privacy.** ε is that of the bill, rounded up; nothing else can set it.
    #[must_use]
    pub fn of(plan: &Plan) -> Self {
        Self::with_randomness(plan, false)
    }

    /// The certificate of a plan whose protecting randomness is good, or seeded and so worth nothing.
    pub(crate) fn with_randomness(plan: &Plan, insecure_seed: bool) -> Self {
        Self {
            meaning: plan.meaning().filter(|_| !insecure_seed),
            ..Self::without_meaning(plan, insecure_seed)
        }
    }

    /// The same, without what it means for one person, which takes longer than the rest.
    fn without_meaning(plan: &Plan, insecure_seed: bool) -> Self {
        let guaranteed = match (plan.bill(), plan.epsilon(), plan.spec().privacy()) {
            (Some(bill), Some(upper), Privacy::Budget { epsilon, delta, neighbours }) if !insecure_seed => {
                Some((bill.clone(), stated(upper.get(), epsilon.get()), delta.get(), neighbours))
            }
            _ => None,
        };
        let (unit, person) = (plan.spec().data().unit(), plan.spec().data().person().map(str::to_owned));
        let statement = match &guaranteed {
            Some((_, epsilon, delta, neighbours)) => {
                guarantee(*epsilon, *delta, *neighbours, unit, person.as_deref())
            }
            None if insecure_seed => {
                "NOT PRIVATE: the protecting randomness was seeded and can be replayed.".to_owned()
            }
            None => "NOT PRIVATE: a baseline that protects nothing.".to_owned(),
        };
        let private = guaranteed.is_some();
        let (bill, epsilon, delta, neighbours) = match guaranteed {
            Some((bill, epsilon, delta, neighbours)) => {
                (Some(bill), Some(epsilon), Some(delta), Some(neighbours))
            }
            None => (None, None, None, None),
        };
        Self {
            format: FORMAT,
            statement,
            private,
            insecure_seed,
            epsilon,
            delta,
            neighbours,
            level: plan.level().filter(|_| private).map(|level| level.name().to_owned()),
            bill,
            meaning: None,
            released: released(plan.bill()),
            public: public(unit),
            premises: premises(unit, ModelCode::of(plan.spec()), plan.spec().charged_to().is_some()),
            unit,
            person,
            data_id: plan.spec().data().id().map(str::to_owned),
            charged: None,
            records: plan.spec().data().records(),
            model: plan.spec().model_name().to_owned(),
            sampler: plan.sampler().name.to_owned(),
            chains: plan.chains(),
            steps_per_chain: plan.steps().0,
            steps_used: None,
            program: Program::this(),
            spec: plan.spec().text(),
            hashes: None,
            signature: None,
        }
    }

    /// The certificate as it stood before the first answer.
    pub(crate) fn before_answers(&self) -> Self {
        Self { steps_used: None, hashes: None, signature: None, ..self.clone() }
    }

    /// SHA-256 of the certificate's file as it stands, in hexadecimal digits.
    #[must_use]
    pub fn digest(&self) -> String {
        digits(&Sha256::digest(self.text().as_bytes()))
    }

    /// Whether it says which reservation pays exactly where its spec names an account, and that account.
    fn names_account(&self, account: Option<&str>) -> bool {
        let digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        let named = |charged: &Charged| charged.run.len() == 32 && charged.run.bytes().all(digit);
        self.charged.as_ref().map(|charged| charged.account.as_str()) == account
            && self.charged.as_ref().is_none_or(named)
    }

    /// The certificate signed, or as it is without a key.
    pub(crate) fn signed_by(self, key: Option<&SigningKey>) -> Self {
        let unsigned = Self { signature: None, ..self };
        let signature = key.map(|key| key.sign(unsigned.text().as_bytes()));
        Self { signature, ..unsigned }
    }

    /// The certificate's file, to the byte.
    pub(crate) fn text(&self) -> String {
        // A certificate holds numbers, words and lists, all of which JSON can write.
        serde_json::to_string_pretty(self).unwrap_or_default() + "\n"
    }

    /// Reads a certificate, which must be the file as barkeep wrote it: an edited blank is an edit.
    ///
    /// # Errors
    /// [`Error::Read`] if there is no such file or it is no certificate; [`Error::Certificate`] if it was written by
    /// somebody else.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let fail = |reason: String| Error::Read { path: path.display().to_string(), reason };
        let text = std::fs::read_to_string(path).map_err(|error| fail(error.kind().to_string()))?;
        Self::parse(&text, &path.display().to_string())
    }

    /// Reads the text of a certificate; `name` is the file's in messages.
    ///
    /// # Errors
    /// As [`Certificate::read`].
    pub(crate) fn parse(text: &str, name: &str) -> Result<Self, Error> {
        // By place, not by content: a file named by mistake may hold records.
        let certificate: Self = serde_json::from_str(text).map_err(|error| Error::Read {
            path: name.to_owned(),
            reason: format!("not a certificate: line {}, column {}", error.line(), error.column()),
        })?;
        if certificate.text() == text {
            Ok(certificate)
        } else {
            Err(Error::Certificate(
                "the file is not as barkeep writes certificates: it was edited".to_owned(),
            ))
        }
    }

    /// Checks the signature: that it is there and this key's if `key` is given, and that it holds if it is there.
    ///
    /// # Errors
    /// [`Error::Certificate`] if it is not.
    pub fn check_signature(&self, key: Option<&PublicKey>) -> Result<(), Error> {
        let fail = |reason: &str| Err(Error::Certificate(reason.to_owned()));
        match (&self.signature, key) {
            (None, None) => Ok(()),
            (None, Some(_)) => fail("the certificate is not signed"),
            (Some(signature), Some(key)) if signature.key != key.digits() => {
                fail("the certificate is signed by another key")
            }
            (Some(signature), _) => {
                let unsigned = Self { signature: None, ..self.clone() };
                if signature.holds(unsigned.text().as_bytes()) {
                    Ok(())
                } else {
                    fail("the signature does not fit the certificate: one of them was edited")
                }
            }
        }
    }

    /// Compares the files in a folder with their hashes in the certificate, and gives the names of those that are not there.
    ///
    /// No name in the certificate is opened: the files have the names that every run gives them.
    ///
    /// # Errors
    /// [`Error::Certificate`] for a file that is not the one the run left; [`Error::Read`] if it cannot be read.
    pub fn check_files(&self, folder: &Path) -> Result<Vec<&'static str>, Error> {
        let Some(hashes) = &self.hashes else {
            // Nothing is bound yet; steps are counted when files are.
            return match self.steps_used {
                None => Ok(Hashes::FILES.to_vec()),
                Some(_) => Err(Error::Certificate("the hashes of the files are missing".to_owned())),
            };
        };
        let mut absent = Vec::new();
        let (csv, parquet, summary) = (&hashes.draws_csv, &hashes.draws_parquet, &hashes.summary);
        let stated = [Some(csv), Some(parquet), Some(summary), hashes.journal.as_ref()];
        for (name, stated) in Hashes::FILES.into_iter().zip(stated) {
            let path = folder.join(name);
            match stated {
                Some(_) if !path.exists() => absent.push(name),
                None if !path.exists() => {}
                Some(stated) if *stated == file_hash(&path)? => {}
                _ => {
                    let reason = format!("{name} is not the file this run left: it was edited or replaced");
                    return Err(Error::Certificate(reason));
                }
            }
        }
        Ok(absent)
    }

    /// Computes ε again from the bill, plans the spec again, and compares.
    ///
    /// What is verified is that the parts say the same: the words are those of the numbers, the bill costs what is stated,
    /// and the spec asks for nothing that is not on the bill. Whoever can write an unsigned file can write another one that
    /// is as consistent: [`Certificate::check_signature`] says whose it is, [`Certificate::check_files`] whether the
    /// draws are its own. No file that a certificate names is opened. A model of one's own is code that a certificate does not hold: then the
    /// spec cannot be planned again, and [`Verified::not_planned`] says so.
    ///
    /// # Errors
    /// [`Error::Certificate`] if the parts contradict each other, the bill costs more than is stated, or there is no
    /// guarantee to verify.
    pub fn verify(&self) -> Result<Verified, Error> {
        let fail = |reason: String| Err(Error::Certificate(reason));
        if self.format != FORMAT {
            return fail(format!(
                "layout {} is not known to this version, which reads {FORMAT}",
                self.format
            ));
        }
        if !self.private || self.insecure_seed {
            return fail(format!("there is no guarantee to verify: {}", self.statement));
        }
        let (Some(epsilon), Some(delta), Some(neighbours), Some(bill)) =
            (self.epsilon, self.delta, self.neighbours, &self.bill)
        else {
            return fail("epsilon, delta, neighbours or the bill is missing".to_owned());
        };
        if self.statement != guarantee(epsilon, delta, neighbours, self.unit, self.person.as_deref()) {
            return fail("the statement says something else than the numbers beside it".to_owned());
        }
        if bill.neighbours() != Some(neighbours) {
            return fail("the bill speaks of other neighbours than the certificate".to_owned());
        }
        if let Some(used) = &self.steps_used
            && (used.len() as u64 != self.chains || used.iter().any(|used| *used > self.steps_per_chain))
        {
            return fail("more steps were used than were certified".to_owned());
        }
        let delta = Delta::new(delta).map_err(|error| Error::Certificate(error.to_string()))?;
        let stated = Epsilon::new(epsilon).map_err(|error| Error::Certificate(error.to_string()))?;
        let computed = bill.epsilon_within(stated, delta)?;
        if computed > stated {
            let computed = computed.get();
            return fail(format!("the bill costs epsilon {computed}, more than the stated {epsilon}"));
        }
        let meaning = bill.meaning(delta).ok();
        if !means_alike(self.meaning, meaning) {
            return fail("what it means for one person is not what the bill means".to_owned());
        }
        let not_planned = match self.own_model()? {
            None => {
                self.compare_with_spec()?;
                None
            }
            Some(own) => {
                self.compare_with_text(bill, &own)?;
                Some(format!(
                    "the model is {own}, code that this certificate does not hold: that the spec buys this bill was not \
                     checked; ask the program that planned it"
                ))
            }
        };
        Ok(Verified { epsilon: computed, meaning, not_planned })
    }

    /// The type of the model, if it is code outside barkeep.
    fn own_model(&self) -> Result<Option<String>, Error> {
        let spec = self.table()?;
        let own = spec.get("model").and_then(|model| model.get(OWN)).and_then(toml::Value::as_str);
        Ok(own.map(str::to_owned))
    }

    /// The spec in it, parsed without opening a file.
    ///
    /// # Errors
    /// [`Error::Spec`] as [`Spec::parse`], and if it names a file.
    pub(crate) fn parsed_spec(&self) -> Result<Spec, Error> {
        Ok(Spec::parse_alone(&self.spec)?)
    }

    /// The spec's sections.
    fn table(&self) -> Result<toml::Table, Error> {
        // What is wrong with it is said by the one who parses it to plan.
        Ok(self.spec.parse().unwrap_or_default())
    }

    /// Compares what follows from bill and text alone, where the spec cannot be planned.
    fn compare_with_text(&self, bill: &Bill, own: &str) -> Result<(), Error> {
        let fail =
            |part: &str| Err(Error::Certificate(format!("{part} is not what the spec in it asks for")));
        let spec = self.table()?;
        let section =
            |name: &str| spec.get(name).and_then(toml::Value::as_table).cloned().unwrap_or_default();
        let (data, sampler) = (section("data"), section("sampler"));
        let privacy = Privacy::parse(&section("privacy")).map_err(Error::from)?;
        let Privacy::Budget { epsilon, delta, neighbours } = privacy else { return fail("private") };
        let count = |table: &toml::Table, key: &str| {
            table.get(key).and_then(toml::Value::as_integer).and_then(|count| u64::try_from(count).ok())
        };
        let unit = match data.get("person") {
            Some(_) => Unit::Person { most_rows: count(&data, "most_rows") },
            None => Unit::Record,
        };
        let named = sampler.get("name").and_then(toml::Value::as_str).unwrap_or(DEFAULT_SAMPLER);
        for (part, same) in [
            ("epsilon", self.epsilon.is_some_and(|stated| stated <= epsilon.get())),
            ("delta", self.delta == Some(delta.get())),
            ("neighbours", self.neighbours == Some(neighbours)),
            ("released", self.released == released(Some(bill))),
            (
                "unit",
                self.unit == unit
                    && self.person.as_deref() == data.get("person").and_then(toml::Value::as_str),
            ),
            ("public", self.public == public(unit)),
            (
                "premises",
                self.premises
                    == premises(unit, ModelCode::Own(own), section("privacy").contains_key("account")),
            ),
            (
                "data_id",
                data.get("id").or(data.get("set")).and_then(toml::Value::as_str) == self.data_id.as_deref(),
            ),
            ("charged", self.names_account(section("privacy").get("account").and_then(toml::Value::as_str))),
            ("records", count(&data, unit.plural()) == Some(self.records.0)),
            ("model", self.model == own),
            ("sampler", self.sampler == named),
            ("chains", count(&sampler, "chains").unwrap_or(1) == self.chains),
            ("steps_per_chain", count(&sampler, "steps").is_none_or(|most| self.steps_per_chain <= most)),
        ] {
            if !same {
                return fail(part);
            }
        }
        Ok(())
    }

    /// Plans the spec again and compares what follows from it.
    fn compare_with_spec(&self) -> Result<(), Error> {
        let fail = |reason: String| Err(Error::Certificate(reason));
        let plan = match self.parsed_spec().and_then(Plan::new) {
            Ok(plan) => plan,
            Err(error) => return fail(format!("the spec in it cannot be planned: {error}")),
        };
        let planned = Self::without_meaning(&plan, false);
        let bill = |certificate: &Self| serde_json::to_value(&certificate.bill).unwrap_or_default();
        for (part, same) in [
            ("private", planned.private),
            ("delta", planned.delta == self.delta),
            ("neighbours", planned.neighbours == self.neighbours),
            ("level", planned.level == self.level),
            ("released", planned.released == self.released),
            ("public", planned.public == self.public),
            ("premises", planned.premises == self.premises),
            ("unit", planned.unit == self.unit && planned.person == self.person),
            ("data_id", planned.data_id == self.data_id),
            ("charged", self.names_account(plan.spec().charged_to().map(|to| to.account.as_str()))),
            ("records", planned.records == self.records),
            ("model", planned.model == self.model),
            ("sampler", planned.sampler == self.sampler),
            ("chains", planned.chains == self.chains),
            ("steps_per_chain", planned.steps_per_chain == self.steps_per_chain),
            ("bill", alike(&bill(&planned), &bill(self))),
        ] {
            if !same {
                let by = if planned.program.version == self.program.version {
                    String::new()
                } else {
                    format!(
                        " (it was planned by {}, and now by {})",
                        self.program.version, planned.program.version
                    )
                };
                return fail(format!("{part} is not what the spec in it asks for{by}"));
            }
        }
        Ok(())
    }
}

/// What verifying a certificate showed.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Verified {
    /// ε of the bill, computed again.
    pub epsilon: Epsilon,
    /// What the bill means for one person, computed again.
    pub meaning: Option<Risk>,
    /// What could not be planned again and why; absent where everything was.
    pub not_planned: Option<String>,
}

/// What is assumed public.
fn public(unit: Unit) -> Vec<String> {
    let spec = format!(
        "the spec: number of {}, columns, bounds, levels, invalid values, model, prior, sampler settings",
        unit.plural()
    );
    vec![spec, "the proposals and the starting points".to_owned()]
}

/// Whose code a model is.
#[derive(Clone, Copy)]
enum ModelCode<'a> {
    /// barkeep's.
    BuiltIn,
    /// A text in the spec.
    Text,
    /// Outside barkeep, of this type.
    Own(&'a str),
}

impl<'a> ModelCode<'a> {
    fn of(spec: &'a Spec) -> Self {
        match spec.has_own_model() {
            true => Self::Own(spec.model_name()),
            false if spec.model_name() == TEXT_MODEL => Self::Text,
            false => Self::BuiltIn,
        }
    }
}

/// What the guarantee rests on.
fn premises(unit: Unit, model: ModelCode<'_>, charged: bool) -> Vec<String> {
    let code = match model {
        ModelCode::BuiltIn | ModelCode::Own(_) => "the model is trusted code",
        ModelCode::Text => {
            "the model is the text in the spec, which can name one record at a time and no other; what runs it is trusted code"
        }
    };
    let whose = match unit {
        Unit::Record => "a person contributes one record",
        Unit::Person { .. } => "all rows of a person carry the same identifier, and nobody else's do",
    };
    let mut premises = words(&[
        whose,
        "nothing in the spec was chosen by looking at the records",
        "the file is well formed: refusals of structure are visible",
        code,
        "the operating system's randomness is good and the process's memory is not read",
        "time, power and other side channels are not covered",
        match charged {
            true => "the ledger's custodian put every file about the same persons under one account",
            false => {
                "the folder of an unfinished run is continued once: a copy that is continued too answers the rest with other noise, and \
                 whoever sees both sees up to twice the cost"
            }
        },
    ]);
    if let ModelCode::Own(own) = model {
        premises.push(format!("the model's code, {own}, is no part of barkeep: its author answers for it"));
    }
    premises
}

fn words(list: &[&str]) -> Vec<String> {
    list.iter().map(|&word| word.to_owned()).collect()
}

/// Whether two bills are the same but for the last digits of calibrated numbers, which another machine's transforms may
/// round differently.
fn alike(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(a), Value::Number(b)) if a.is_f64() && b.is_f64() => {
            let (a, b) = (a.as_f64().unwrap_or(f64::NAN), b.as_f64().unwrap_or(f64::NAN));
            (a - b).abs() <= 1e-9 * a.abs()
        }
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(one, other)| alike(one, other))
        }
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, one)| b.get(key).is_some_and(|other| alike(one, other)))
        }
        (one, other) => one == other,
    }
}

/// Whether two say the same about one person.
fn means_alike(stated: Option<Risk>, computed: Option<Risk>) -> bool {
    let close = |stated: f64, computed: f64| (stated - computed).abs() <= MEANING_TOLERANCE * computed.abs();
    match (stated, computed) {
        (Some(stated), Some(computed)) => stated
            .numbers()
            .into_iter()
            .zip(computed.numbers())
            .all(|(stated, computed)| close(stated, computed)),
        (None, None) => true,
        (Some(_), None) | (None, Some(_)) => false,
    }
}

/// The guarantee in one sentence.
fn guarantee(epsilon: f64, delta: f64, neighbours: Neighbours, unit: Unit, person: Option<&str>) -> String {
    let changed = match neighbours {
        Neighbours::Substitute => "substituted",
        Neighbours::AddRemove => "added or removed",
    };
    let verb = match unit {
        Unit::Record => " is",
        Unit::Person { most_rows: None } => " are",
        Unit::Person { most_rows: Some(_) } => ", are",
    };
    let whose = whose(unit, person);
    format!(
        "Everything this run releases is ({epsilon}, {delta:e})-differentially private when {whose}{verb} {changed}."
    )
}

/// What leaves the curator under a bill, or without one.
fn released(bill: Option<&Bill>) -> Vec<String> {
    let words = match bill.map(Bill::mechanisms) {
        Some(mechanisms) if !mechanisms.is_empty() => Mechanism::all_released(mechanisms),
        // A baseline: nothing is priced, and every decision is seen.
        Some(_) | None => vec!["the accept/reject bit of every step"],
    };
    let mut released = vec!["every draw of every chain, in order".to_owned()];
    released.extend(words.into_iter().map(str::to_owned));
    released
}

/// ε as it is printed: the upper end, rounded up to nine significant digits, so that the same bill computed on
/// another machine, whose transforms may round differently in the last place, stays within it; but no more than
/// the budget, which the bill was bought to fit.
fn stated(upper: f64, budget: f64) -> f64 {
    let text = format!("{:.8e}", upper * (1.0 + 1e-8));
    let rounded = text.parse().unwrap_or(upper).max(upper);
    if upper <= budget { rounded.min(budget) } else { rounded }
}

#[cfg(test)]
mod tests;
