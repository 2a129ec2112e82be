//! Reads which correction V_cor makes normal noise nearly logistic, and states its error.

use crate::facts::{Fact, Facts, Value};
use crate::keys::{Key, Section, key};
use crate::samplers::foreseen::Foreseen;
use crate::spec::SpecError;
use barkeep_accounting::vcor::{Fit, Fitted, Quality};
use barkeep_accounting::{Rule, Variance};

/// The key of the correction.
pub(crate) const CORRECTION_KEYS: [Key; 1] = [key(
    "correction",
    "\"mixture\"",
    "how V_cor is fitted; at C = 2 off the logistic law by at most: \"mixture\" 0.0020 (logit 0.010), \
     \"mixture-density\" 0.00075 (0.050), \"minimax\" 0.00059 (0.16), \"ridge\" 0.052 (refused, as all above 0.01)",
)];

/// The corrected rule for noise of variance C, and its errors as the plan shows them.
///
/// # Errors
/// A correction that is not known, or none that is good enough for this variance.
pub(crate) fn corrected(
    section: &Section<'_>,
    foreseen: &Foreseen,
    variance: f64,
) -> Result<(Rule, Facts), SpecError> {
    let fit = section
        .choice(
            "correction",
            &[
                ("mixture", Fit::Mixture),
                ("mixture-density", Fit::MixtureDensity),
                ("ridge", Fit::Ridge),
                ("minimax", Fit::Minimax),
            ],
        )?
        .unwrap_or(Fit::Mixture);
    // A sampler that fixes C has no such key; then only the fit can be changed.
    let key = if section.has("variance") { "variance" } else { "correction" };
    let fail = |error: barkeep_accounting::Error| section.error(key, error.to_string());
    let fitted = || Variance::new(variance).and_then(|variance| fit.correction(variance));
    let fitted = foreseen.corrections.of((fit, variance), fitted).map_err(fail)?;
    let Fitted { correction, quality, least } = fitted;
    let rule = Rule::Corrected { variance, correction };
    rule.validate().map_err(fail)?;
    Ok((rule, facts(variance, quality, least)))
}

fn facts(variance: f64, quality: Quality, least: Option<f64>) -> Facts {
    let mut facts = vec![
        Fact::number("noise_variance", "noise variance C", variance, format!("{variance}")),
        Fact::number(
            "correction_error",
            "V_cor: error of a probability",
            quality.cdf_error.upper,
            format!("at most {:.3e}", quality.cdf_error.upper),
        ),
        Fact::new(
            "correction_logit_errors",
            "V_cor: error of a log-odds",
            Value::Numbers(vec![quality.logit_error_3.upper, quality.logit_error_6.upper]),
            format!(
                "at most {:.3e} up to |λ| = 3, {:.3e} up to 6",
                quality.logit_error_3.upper, quality.logit_error_6.upper
            ),
        ),
    ];
    if let Some(least) = least {
        let words = format!("{least:.3e}");
        facts.push(Fact::number("correction_least_error", "V_cor: best possible error", least, words));
    }
    facts
}
