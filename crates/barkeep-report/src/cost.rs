//! What it cost: the guarantee, in words, in numbers and in dots, and the account that paid.

use crate::Context;
use crate::html::{Node, element, figure, h3, list, p, table, text};
use barkeep::accounting::Risk;
use barkeep::num::normal_quantile;
use barkeep_plot::Dots;

/// The section.
pub(crate) fn content(context: &Context<'_>) -> Vec<Node> {
    let certificate = context.finished.certificate();
    let mut content = vec![p(&certificate.statement)];
    let (Some(epsilon), Some(delta)) = (certificate.epsilon, certificate.delta) else {
        content
            .push(p("Nobody in the records is protected by this run. Do not publish what follows from it."));
        return content;
    };
    content.push(p(format!(
        "ε = {} bounds how much more likely any outcome can be with one person's data than with other data in its place: by a \
         factor of at most {:.2}, except with a probability that δ = {delta:e} bounds. The price was fixed before the first \
         question was asked, and stopping early does not lower it.",
        crate::rounded_up(epsilon),
        epsilon.exp()
    )));
    match certificate.meaning {
        Some(risk) => content.extend(dots(&risk)),
        None => content.push(p(
            "No accountant follows the whole privacy curve of this bill, so that there is no picture of it.",
        )),
    }
    content.push(h3("Who paid"));
    match (&certificate.charged, context.account) {
        (None, _) => content.push(p(
            "No account was charged. Other runs on the same people add to this one, and nobody adds them up here.",
        )),
        (Some(charged), None) => content.push(p(format!(
            "Account {} was charged, as run {}. This report was made without its ledger.",
            charged.account, charged.run
        ))),
        (Some(charged), Some(account)) => {
            content.push(p(format!("Account {} was charged, as run {}.", charged.account, charged.run)));
            let left = (account.epsilon - account.after).max(0.0);
            let rows = vec![
                vec!["before this run".to_owned(), format!("{:.3}", account.before), String::new()],
                vec!["with this run".to_owned(), format!("{:.3}", account.after), format!("{left:.3}")],
                vec!["the account's total".to_owned(), format!("{}", account.epsilon), String::new()],
            ];
            let caption =
                format!("What was ever spent on these people, at δ = {:e}; runs add up to less than their sum", account.delta);
            content.push(table(&caption, &["when", "ε spent", "ε left"], rows));
        }
    }
    content
}

/// What a guesser gains, by dots.
fn dots(risk: &Risk) -> Vec<Node> {
    let right = 50.0 * (1.0 + risk.advantage);
    let sure = 100.0 * risk.odds_factor / (1.0 + risk.odds_factor);
    // Upwards: no picture may show less than is proved.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and 50")]
    let more = |percent: f64| (percent.ceil().clamp(50.0, 100.0) - 50.0) as u32;
    let mu = 2.0 * normal_quantile(0.5 * (1.0 + risk.advantage).min(2.0 - 1e-12));
    let picture = |id: &str, percent: f64, words: &str| {
        let dots = Dots { certain: 50, more: more(percent) };
        let alt = format!(
            "100 dots: 50 filled for a coin, {} more in another colour, {} empty.",
            dots.more,
            50 - dots.more.min(50)
        );
        figure(dots.inline(id, &alt), words)
    };
    let average = format!(
        "On average: who guesses whether somebody's record is in the data, 50 to 50 before, is right at most {right:.1} times in 100. A coin is right 50 times."
    );
    let surest = format!(
        "At most: who was at 50 % before, and has an attack that cries wolf once in a thousand, is at most {sure:.1} % sure when it cries."
    );
    vec![
        element(
            "div",
            &[("class", "pair")],
            [picture("dots-average", right, &average), picture("dots-sure", sure, &surest)],
        ),
        p(format!(
            "The best guess does as well as telling one draw of a standard normal from one that was moved by μ = {mu:.3}."
        )),
        list(risk.words()),
        element(
            "p",
            &[("class", "note")],
            [text("Whatever else the guesser knows, and however they attack.")],
        ),
    ]
}
