//! `barkeep ledger show` and `log`: the books, for people and for machines.

use crate::exit::{Exit, print};
use barkeep::accounting::Neighbours;
use barkeep::ledger::{Account, Books, Entry, Event, Ledger, Quote};
use barkeep::{ChargedTo, Plan};
use serde_json::{Value, json};
use std::path::Path;

/// Shows one account or all, and what a run of a spec would cost.
pub(super) fn run(
    path: &Path,
    account: Option<&str>,
    spec: Option<&Path>,
    as_json: bool,
) -> Result<(), Exit> {
    let books = Ledger::open(path)?.books()?;
    let planned = spec.map(|spec| planned(spec, path, account)).transpose()?;
    let only = account.or(planned.as_ref().map(|(name, _)| name.as_str()));
    let accounts = accounts(path, &books, only)?;
    let next = planned.as_ref().map(|(_, quote)| quoted(quote));
    if as_json {
        return print(&json!({ "accounts": accounts, "next": next }).to_string());
    }
    if accounts.is_empty() {
        return print("no account is open; `barkeep ledger open` opens one");
    }
    for account in &accounts {
        in_words(account)?;
    }
    if let Some((name, quote)) = &planned {
        print(&account_words(name, quote))?;
    }
    Ok(())
}

/// One account or all, as JSON.
///
/// # Errors
/// [`Exit::Input`] for an account that is not there.
pub(crate) fn accounts(path: &Path, books: &Books, only: Option<&str>) -> Result<Vec<Value>, Exit> {
    if let Some(name) = only
        && books.account(name).is_none()
    {
        return Err(Exit::Input(format!("there is no account \"{name}\" in {}", path.display())));
    }
    let shown = books.accounts().filter(|(name, _)| only.is_none_or(|only| only == *name));
    shown.map(|(name, account)| described(name, account, books)).collect()
}

/// Plans a spec, and asks this ledger what its run would cost.
fn planned(spec: &Path, ledger: &Path, account: Option<&str>) -> Result<(String, Quote), Exit> {
    let spec = super::super::spec(spec)?;
    let account = match (account, spec.charged_to()) {
        (Some(account), _) => account.to_owned(),
        (None, Some(to)) => to.account.clone(),
        (None, None) => {
            return Err(Exit::Input("the spec names no account: name one on the command line".to_owned()));
        }
    };
    let to = match spec.charged_to() {
        Some(to) => {
            let mut to = to.clone();
            (to.ledger, to.account) = (ledger.to_owned(), account.clone());
            to
        }
        None => ChargedTo::new(ledger, account.clone()),
    };
    let quote = Plan::new(spec.charge_to(to))?.quote()?;
    quote.map(|quote| (account, quote)).ok_or_else(|| Exit::Input("a baseline has no price".to_owned()))
}

/// An account as JSON.
fn described(name: &str, account: &Account, books: &Books) -> Result<Value, Exit> {
    let spent = books.spent(account, None).map_err(|error| Exit::Input(error.to_string()))?;
    let total = account.filter();
    let neighbours = match account.neighbours() {
        Neighbours::Substitute => "substitute",
        Neighbours::AddRemove => "add-remove",
    };
    let caps = account.caps().map(|(whom, name, cap)| {
        json!({
            "whom": whom.to_string(), "name": name, "epsilon": cap.epsilon().get(), "delta": cap.delta().get(),
            "share_spent": cap.share_spent(),
        })
    });
    let data = account
        .data()
        .iter()
        .map(|data| json!({ "data": data.data, "version": data.version, "declared": data.declared }));
    let runs = account.runs().iter().filter_map(|run| books.run(run)).map(|state| {
        let reserved = &state.reserved;
        json!({
            "run": reserved.run, "data": reserved.data, "version": reserved.version,
            "analyst": reserved.analyst, "project": reserved.project,
            "epsilon": reserved.bill.epsilon(total.delta()).ok().map(|epsilon| epsilon.get()),
            "state": match &state.closing {
                None => "reserved",
                Some(closing) if closing.ended => "ended",
                Some(_) => "interrupted",
            },
            "answers": state.closing.as_ref().map(|closing| closing.answers),
        })
    });
    Ok(json!({
        "account": name, "epsilon": total.epsilon().get(), "delta": total.delta().get(),
        "neighbours": neighbours, "unit": account.unit().to_string(),
        "spent": spent, "share_spent": total.share_spent(), "refusals": account.refusals(),
        "closed": account.closed(), "data": data.collect::<Vec<_>>(), "caps": caps.collect::<Vec<_>>(),
        "runs": runs.collect::<Vec<_>>(),
    }))
}

/// A quote as JSON.
pub(in super::super) fn quoted(quote: &Quote) -> Value {
    json!({ "spent_before": quote.before, "spent_after": quote.after, "refused": quote.refused })
}

/// A quote in words.
pub(in super::super) fn account_words(name: &str, quote: &Quote) -> String {
    let (before, after) = (quote.before, quote.after);
    match &quote.refused {
        None => format!("account \"{name}\" accepts the run: spent rises from {before:.3} to {after:.3}"),
        Some(reason) => format!("account \"{name}\" would refuse the run: {reason}"),
    }
}

/// An account for people.
fn in_words(account: &Value) -> Result<(), Exit> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let number = |value: &Value| value.as_f64().unwrap_or(f64::NAN);
    let row = |name: &str, value: String| print(&format!("  {name:<20} {value}"));
    let closed = account["closed"].as_str().map(|reason| format!(", closed: {reason}")).unwrap_or_default();
    print(&format!("Account \"{}\"{closed}", text(&account["account"])))?;
    let (epsilon, delta) = (number(&account["epsilon"]), number(&account["delta"]));
    row("total", format!("epsilon {epsilon} at delta {delta:e}"))?;
    row("protects", format!("a {}, neighbours {}", text(&account["unit"]), text(&account["neighbours"])))?;
    let share = 100.0 * number(&account["share_spent"]);
    row(
        "spent",
        format!("epsilon {:.3}: {share:.1} % of what the filter allows", number(&account["spent"])),
    )?;
    row("left", format!("{:.1} %", 100.0 - share))?;
    for data in account["data"].as_array().into_iter().flatten() {
        let person = data["declared"]["person"].as_str().map(|column| format!(", by {column}"));
        let most = data["declared"]["most_rows"].as_u64().map(|most| format!(", at most {most} rows"));
        let number = data["declared"]["number"].as_u64().map(|number| format!(", {number} of them"));
        let facts: String = [person, most, number].into_iter().flatten().collect();
        row("data", format!("\"{}\", version {}{facts}", text(&data["data"]), data["version"]))?;
    }
    for cap in account["caps"].as_array().into_iter().flatten() {
        let (whom, name, share) =
            (text(&cap["whom"]), text(&cap["name"]), 100.0 * number(&cap["share_spent"]));
        let (epsilon, delta) = (number(&cap["epsilon"]), number(&cap["delta"]));
        row("cap", format!("{whom} \"{name}\": epsilon {epsilon} at delta {delta:e}, {share:.1} % spent"))?;
    }
    for run in account["runs"].as_array().into_iter().flatten() {
        let who: String = ["analyst", "project"]
            .iter()
            .filter_map(|key| run[key].as_str())
            .map(|who| format!(", {who}"))
            .collect();
        let answers =
            run["answers"].as_u64().map(|answers| format!(", {answers} answers")).unwrap_or_default();
        let (name, state, data) = (text(&run["run"]), text(&run["state"]), text(&run["data"]));
        let alone = run["epsilon"].as_f64().map_or("unknown".to_owned(), |epsilon| format!("{epsilon:.3}"));
        row("run", format!("{name} on \"{data}\": epsilon {alone} alone, {state}{answers}{who}"))?;
    }
    row("refused runs", account["refusals"].to_string())
}

/// Lists every entry.
pub(super) fn log(path: &Path, as_json: bool) -> Result<(), Exit> {
    for entry in Ledger::open(path)?.entries()? {
        print(&if as_json { entry.shown().to_string() } else { line(&entry) })?;
    }
    Ok(())
}

/// An entry in words.
fn line(entry: &Entry) -> String {
    let said = match &entry.event {
        Event::Open(opening) => {
            let reason = opening.reason.as_deref().map(|reason| format!(": {reason}")).unwrap_or_default();
            let (epsilon, delta) = (opening.epsilon.get(), opening.delta.get());
            format!("account \"{}\" opened with ({epsilon}, {delta:e}){reason}", opening.account)
        }
        Event::Add(addition) => {
            let reason = addition.reason.as_deref().map(|reason| format!(": {reason}")).unwrap_or_default();
            let (account, data, version) = (&addition.account, &addition.data, addition.version);
            format!("\"{data}\", version {version}, put under account \"{account}\"{reason}")
        }
        Event::Cap(cap) => {
            let (epsilon, delta) = (cap.epsilon.get(), cap.delta.get());
            format!(
                "account \"{}\": {} \"{}\" capped at ({epsilon}, {delta:e})",
                cap.account, cap.whom, cap.name
            )
        }
        Event::Reserve(asked) => {
            format!(
                "account \"{}\": run {} reserved its bill on \"{}\"",
                asked.account, asked.run, asked.data
            )
        }
        Event::Refuse(refusal) => {
            format!(
                "account \"{}\": run {} refused: {}",
                refusal.asked.account, refusal.asked.run, refusal.reason
            )
        }
        Event::Lease(lease) => format!("run {} is continued", lease.run),
        Event::Analyst { name, key } => format!("{key} signs for \"{name}\""),
        Event::Close(closing) => {
            let how = if closing.ended { "ended" } else { "was interrupted" };
            format!("run {} {how} after {} answers", closing.run, closing.answers)
        }
        Event::CloseAccount { account, reason } => format!("account \"{account}\" closed: {reason}"),
    };
    let hash = entry.hash.get(..12).unwrap_or_default();
    format!("{:>5}  {}  {hash}  {said}", entry.number, entry.at.as_deref().unwrap_or("undated"))
}
