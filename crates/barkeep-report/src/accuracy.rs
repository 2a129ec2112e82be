//! How far off privacy made it: the forecast, and what other budgets would give.

use crate::html::{Node, list, p, table};
use crate::{Context, grouped};
use barkeep::Privacy;

/// The section.
pub(crate) fn content(context: &Context<'_>) -> Vec<Node> {
    let plan = &context.plan;
    let Privacy::Budget { epsilon, .. } = plan.spec().privacy() else {
        return vec![p("This run has no privacy, and so no error of it.")];
    };
    let Some(expected) = plan.expected() else {
        return vec![p(
            "No formula says how far this sampler and model come from the posterior without privacy. Rehearse on simulated records \
             (barkeep simulate) to find out.",
        )];
    };
    let units = plan.spec().data().unit().plural();
    let mut content = vec![p(format!(
        "Before the run, a mean was expected to be off by {:.2} posterior standard deviations because of privacy, and an interval to be \
         {:.2} times as wide as without it. These are forecasts from public facts, not measurements.",
        expected.error, expected.width
    ))];
    let number = |value: Option<f64>| {
        value.map_or_else(|| "nothing can be bought".to_owned(), |value| format!("{value:.2}"))
    };
    let mut rows = vec![vec![
        format!("ε = {}, as here", epsilon.get()),
        format!("{:.2}", expected.error),
        format!("{:.2}", expected.width),
    ]];
    for other in plan.alternatives() {
        let what = match other.epsilon == epsilon.get() {
            true => format!("{} {units}", grouped(other.records.0)),
            false => format!("ε = {}", other.epsilon),
        };
        rows.push(vec![what, number(other.expected_error), number(other.expected_width)]);
    }
    content.push(table(
        "What other budgets would have given",
        &["case", "error of a mean, in posterior sd", "width, relative to no privacy"],
        rows,
    ));
    if !plan.warnings().is_empty() {
        content.push(p("The plan warned:"));
        content.push(list(plan.warnings().iter().map(|warning| crate::sentence(warning))));
    }
    content
}
