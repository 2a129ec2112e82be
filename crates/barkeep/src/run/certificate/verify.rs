//! Computes a certificate's numbers again, from its bill and its spec, and compares.

use super::words::{ModelCode, guarantee, premises, public, released};
use super::{Certificate, FORMAT};
use crate::Error;
use crate::check::{self, Check};
use crate::plan::{Bill, DEFAULT_SAMPLER, Plan};
use crate::spec::{OWN, Privacy, Spec};
use barkeep_accounting::{Delta, Epsilon, Risk};
use barkeep_data::Unit;
use serde_json::Value;

/// How far what a bill means may be from what another machine computes of it, relative: both make the same lattices, whose ends rounding
/// may move.
const MEANING_TOLERANCE: f64 = 2e-3;

/// What verifying a certificate showed.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Verified {
    /// ε of the bill, computed again.
    pub epsilon: Epsilon,
    /// What the bill means for one person, computed again.
    pub meaning: Option<Risk>,
    /// What the independent checker found, or why it found nothing.
    pub checked: Result<Check, String>,
    /// What could not be planned again and why; absent where everything was.
    pub not_planned: Option<String>,
}

impl Certificate {
    /// Computes ε again from the bill, by the accountant and by a checker that shares no code with it, plans the spec again, and compares.
    ///
    /// What is verified is that the parts say the same: the words are those of the numbers, the bill costs what is stated,
    /// and the spec asks for nothing that is not on the bill. Whoever can write an unsigned file can write another one that
    /// is as consistent: [`Certificate::check_signature`] says whose it is, [`Certificate::check_files`] whether the
    /// draws are its own. No file that a certificate names is opened. A model of one's own is code that a certificate does not hold: then the
    /// spec cannot be planned again, and [`Verified::not_planned`] says so.
    ///
    /// # Errors
    /// [`Error::Certificate`] if the parts contradict each other, the bill costs more than is stated, the checker finds more than 5 % above
    /// that, or there is no guarantee to verify. A check that does not finish within some ten seconds contradicts nothing.
    pub fn verify(&self) -> Result<Verified, Error> {
        self.verify_while(&mut check::at_most(check::PATIENT))
    }

    /// The same, with an independent check that goes on while it is told to: `keep` is asked with the share of the work that is done and the multiplications since it
    /// was last asked.
    ///
    /// # Errors
    /// As [`Certificate::verify`].
    pub fn verify_while(&self, keep: &mut dyn FnMut(f64, f64) -> bool) -> Result<Verified, Error> {
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
        let computed = cost(bill, stated, delta)?;
        let quick = check::quick(bill, stated, delta);
        let meaning = quick.map(|check| check.meaning).or_else(|| bill.meaning(delta).ok());
        if !means_alike(self.meaning, meaning) {
            return fail("what it means for one person is not what the bill means".to_owned());
        }
        let checked = quick.map_or_else(|| check::check(bill, stated, delta, keep), Ok);
        if let Ok(check) = checked {
            check.must_not_contradict(stated)?;
        }
        if self.checked.as_ref().is_some_and(|stated| !stated.agrees_with(quick)) {
            return fail("what it says of an independent check is not what that finds".to_owned());
        }
        let meaning = checked.as_ref().map_or(meaning, |check| Some(check.meaning));
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
        Ok(Verified { epsilon: computed, meaning, checked, not_planned })
    }

    /// Computes ε of the bill, which the search for steps has stated so far, before anything is asked under it.
    ///
    /// # Errors
    /// [`Error::Certificate`] if the bill costs more than is stated.
    pub(crate) fn check_bill(&self) -> Result<(), Error> {
        if let (Some(epsilon), Some(delta), Some(bill)) = (self.epsilon, self.delta, &self.bill) {
            cost(bill, Epsilon::new(epsilon)?, Delta::new(delta)?)?;
        }
        Ok(())
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

/// ε of a bill, computed from it alone.
///
/// # Errors
/// [`Error::Certificate`] if it is above the stated one.
fn cost(bill: &Bill, stated: Epsilon, delta: Delta) -> Result<Epsilon, Error> {
    let computed = bill.epsilon_within(stated, delta)?;
    if computed > stated {
        let (computed, stated) = (computed.get(), stated.get());
        let reason = format!("the bill costs epsilon {computed}, more than the stated {stated}");
        return Err(Error::Certificate(reason));
    }
    Ok(computed)
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
