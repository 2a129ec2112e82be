//! Writes one self-contained HTML page about a run, for a reader who did not make it: what was found, what it cost, how far off privacy
//! made it, whether it can be trusted, and how to check all that.
//!
//! The page loads nothing and runs nothing: pictures are SVG in it, and its Content-Security-Policy forbids the rest. Everything a
//! person wrote (names, levels, texts, identifiers) is escaped where it becomes a part of the page.
//!
//! **Privacy.** A function of a [`Finished`] run, which is public, of public profiles, and of a ledger's bills. No record is read.
//!
//! ```no_run
//! use barkeep::Finished;
//! use barkeep_report::Report;
//!
//! let finished = Finished::read("results".as_ref())?;
//! let html = Report::of(&finished).html()?;
//! # Ok::<(), barkeep::Error>(())
//! ```

mod accuracy;
mod check;
mod cost;
mod curves;
mod found;
mod html;
mod page;
mod prior;
mod rests;
mod trust;

#[cfg(test)]
mod tests;

use barkeep::diagnostics::{Grade, Verdict};
use barkeep::ledger::Ledger;
use barkeep::predict::Profiles;
use barkeep::{Error, Finished, Plan};
use html::{Node, element, p, text};

/// A report about a run.
pub struct Report<'a> {
    finished: &'a Finished,
    profiles: Option<Profiles>,
    account: Option<Account>,
}

/// What an account had spent before a run, and with it.
struct Account {
    before: f64,
    after: f64,
    epsilon: f64,
    delta: f64,
}

/// Everything the sections are made from.
struct Context<'a> {
    finished: &'a Finished,
    plan: Plan,
    profiles: Option<&'a Profiles>,
    account: Option<&'a Account>,
    prior: Vec<Vec<f64>>,
}

/// Reasons that a verdict states at most.
const MOST_REASONS: usize = 5;
/// Parameters that are shown one by one at most.
const MOST_SHOWN: usize = 12;

impl<'a> Report<'a> {
    /// A report about a run.
    #[must_use]
    pub fn of(finished: &'a Finished) -> Self {
        Self { finished, profiles: None, account: None }
    }

    /// With predictions at these profiles, not at those the bounds and levels suggest.
    #[must_use]
    pub fn at(self, profiles: Profiles) -> Self {
        Self { profiles: Some(profiles), ..self }
    }

    /// With what the account that paid had spent before and after.
    ///
    /// # Errors
    /// [`Error::Certificate`] if the ledger does not hold the run's reservation; [`Error::Ledger`] if it cannot be used.
    pub fn charged_in(self, ledger: &Ledger) -> Result<Self, Error> {
        let certificate = self.finished.certificate();
        certificate.check_ledger(ledger)?;
        let books = ledger.books()?;
        let around = match &certificate.charged {
            Some(charged) => books.spent_around(&charged.run)?.zip(books.account(&charged.account)),
            None => None,
        };
        let account = around.map(|((before, after), account)| Account {
            before,
            after,
            epsilon: account.filter().epsilon().get(),
            delta: account.filter().delta().get(),
        });
        Ok(Self { account, ..self })
    }

    /// The page.
    ///
    /// # Errors
    /// The run's spec cannot be planned by this version.
    pub fn html(&self) -> Result<String, Error> {
        let context = Context {
            finished: self.finished,
            plan: self.finished.plan()?,
            profiles: self.profiles.as_ref(),
            account: self.account.as_ref(),
            prior: prior::draws(self.finished),
        };
        let title = format!("barkeep report: {}", subject(self.finished));
        let sections = [
            ("found", "What was found", found::content(&context)?),
            ("cost", "What it cost", cost::content(&context)),
            ("accuracy", "How far off privacy made it", accuracy::content(&context)),
            ("trust", "Can it be trusted", trust::content(&context)),
            ("prior", "Prior against posterior", prior::content(&context)),
            ("rests", "What it rests on", rests::content(&context)),
            ("check", "How to check it", check::content(&context)),
        ];
        let contents: Vec<(&str, &str)> = sections.iter().map(|(id, name, _)| (*id, *name)).collect();
        let head = header(&context);
        let sections = sections.into_iter().map(|(id, name, content)| page::section(id, name, content));
        Ok(page::page(&title, head, &contents, sections.collect()))
    }
}

/// What the run was about, in a person's own words.
fn subject(finished: &Finished) -> String {
    match (finished.spec().formula(), finished.certificate().data_id.as_deref()) {
        (Some(formula), Some(id)) => format!("{formula} ({id})"),
        (Some(formula), None) => formula.to_owned(),
        (None, Some(id)) => format!("model {} ({id})", finished.spec().model_name()),
        (None, None) => format!("model {}", finished.spec().model_name()),
    }
}

/// The page's head: the subject, the verdict and the figures people ask for first.
fn header(context: &Context<'_>) -> Node {
    let (finished, certificate) = (context.finished, context.finished.certificate());
    let summary = finished.summary();
    let privacy = match (certificate.epsilon, certificate.delta) {
        (Some(epsilon), Some(delta)) => format!("ε = {}, δ = {delta:e}", rounded_up(epsilon)),
        _ => "none: NOT PRIVATE".to_owned(),
    };
    let sampler = match &summary.ran {
        Some(ran) => format!("{}, which ran {ran}", certificate.sampler),
        None => certificate.sampler.clone(),
    };
    let facts = [
        ("privacy", privacy),
        ("protects", certificate.unit.to_string()),
        (certificate.unit.plural(), grouped(certificate.records.0)),
        ("sampler", sampler),
        ("draws", grouped(summary.draws as u64)),
    ];
    let fact = |(name, value): (&str, String)| {
        element("div", &[], [element("dt", &[], [text(name)]), element("dd", &[], [text(value)])])
    };
    let parts = [
        element("p", &[("class", "over")], [text("A private posterior, by barkeep")]),
        element("h1", &[], [text(subject(finished))]),
        verdict(&summary.verdict),
        element("dl", &[("class", "facts")], facts.map(fact)),
    ];
    element("header", &[], parts)
}

/// The verdict in a box of its colour, which its words say too.
fn verdict(verdict: &Verdict) -> Node {
    let (class, words) = match verdict.grade {
        Grade::Trustworthy => ("verdict good", "Trustworthy: means and intervals can be used as they are."),
        Grade::Wide => (
            "verdict fair",
            "Wide: no check found the intervals wrong. They are wider than without privacy, or not all could be checked.",
        ),
        Grade::NotToBeTrusted => {
            ("verdict bad", "Not to be trusted: intervals do not hold what they promise.")
        }
    };
    let mut parts = vec![element("p", &[], [element("strong", &[], [text(words)])])];
    let (shown, more) = verdict.reasons.split_at(verdict.reasons.len().min(MOST_REASONS));
    parts.extend(shown.iter().map(|reason| p(sentence(reason))));
    if !more.is_empty() {
        parts.push(p(format!("And {} more, in the table of all checks.", more.len())));
    }
    let remedies = verdict.remedies.iter().map(|remedy| p(format!("Remedy: {}", sentence(remedy))));
    parts.extend(remedies);
    element("div", &[("class", class)], parts)
}

/// A clause as a sentence.
fn sentence(clause: &str) -> String {
    let mut letters = clause.chars();
    let first: String = letters.next().map(|letter| letter.to_uppercase().collect()).unwrap_or_default();
    format!("{first}{}.", letters.as_str().trim_end_matches('.'))
}

/// ε to four decimals, upwards: never less than is certified.
fn rounded_up(epsilon: f64) -> f64 {
    (epsilon * 1e4).ceil() / 1e4
}

/// A whole number in groups of three digits.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            out.push('\u{202f}');
        }
        out.push(digit);
    }
    out
}
