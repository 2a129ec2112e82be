//! Reads a regression from `[model]`: formula, family, link, priors and constants, with defaults from public bounds.

use super::{Formula, FormulaError, Layout, Trials};
use crate::models::{Sides, sides};
use crate::spec::section::{Key, Section, SpecError, key, suggestion};
use barkeep_data::{Column, Kind, Schema, View};
use barkeep_model::{Design, Family, Link, Nuisance, Prior, Regression};

/// The keys of a regression.
pub const REGRESSION_KEYS: [Key; 9] = [
    key(
        "formula",
        "",
        "as in `late ~ hour + log(distance) * origin + poly(age, 2) + offset(log_n)`; 0 + drops the intercept; a binomial \
         response is `passed | trials(taken)`",
    ),
    key(
        "family",
        "",
        "\"gaussian\", \"student_t\", \"bernoulli\", \"binomial\", \"poisson\", \"negative_binomial\", \"exponential\" or \
         \"gamma\"",
    ),
    key(
        "link",
        "the family's usual one",
        "bernoulli: \"logit\" (usual) or \"probit\"; gaussian and student_t: \"identity\"; others: \"log\" (counts and \
         times) or \"logit\" (binomial)",
    ),
    key(
        "priors",
        "see below",
        "a section: for a coefficient, a term or column, \"intercept\", \"coefficients\" (all others), or \"sd\", \"scale\", \
         \"size\", \"shape\", a prior such as \"normal(0, 1)\", \"student_t(4, 0, 2.5)\", \"cauchy(0, 1)\", \"half_normal(1)\", \
         \"exponential(1)\" or \"flat\". Default: a slope is normal(0, 2.5·u/h), h half the width of its feature's range \
         and u half the response's (1 where the link is not the identity); an intercept is normal around the middle of \
         the response's bounds with sd 2.5·u, for logit and probit normal(0, 2.5), for log normal around the middle of the \
         bounds' logarithms with half their width as sd, 2.5 at least, each less the offset's mean over its bounds; sd and \
         scale are half_normal(u), size and shape exponential(0.1)",
    ),
    key(
        "sd",
        "a parameter",
        "gaussian: the known standard deviation of the response around its mean, in the unit its column's scale gives it",
    ),
    key(
        "scale",
        "a parameter",
        "student_t: the known scale, in the unit the response's column's scale gives it",
    ),
    key("degrees", "4", "student_t: degrees of freedom"),
    key("size", "a parameter", "negative_binomial: the known size r; the variance is mean + mean²/r"),
    key("shape", "a parameter", "gamma: the known shape; the variance is mean²/shape"),
];

/// The families by name: which links they have, the usual one first, and the constant they may be given.
const FAMILIES: [(&str, &[&str], Option<&str>); 8] = [
    ("gaussian", &["identity"], Some("sd")),
    ("student_t", &["identity"], Some("scale")),
    ("bernoulli", &["logit", "probit"], None),
    ("binomial", &["logit"], None),
    ("poisson", &["log"], None),
    ("negative_binomial", &["log"], Some("size")),
    ("exponential", &["log"], None),
    ("gamma", &["log"], Some("shape")),
];

/// Builds the regression a section describes, and the view it reads.
///
/// # Errors
/// The first faulty key; a fault of the formula shows the place.
pub fn build(section: &Section<'_>, schema: &Schema) -> Result<(Sides, View), SpecError> {
    let text = section.require("formula", section.text("formula")?)?;
    let place = |error: FormulaError| section.error("formula", error.to_string());
    let formula = Formula::parse(text).map_err(place)?;
    let names = FAMILIES.map(|(name, ..)| (name, name));
    let family = section.require("family", section.choice("family", &names)?)?;
    let (_, links, constant) = FAMILIES.into_iter().find(|(name, ..)| *name == family).unwrap_or(FAMILIES[0]);
    let choices: Vec<(&'static str, &'static str)> = links.iter().map(|link| (*link, *link)).collect();
    let link = section.choice("link", &choices)?.unwrap_or(links[0]);
    for (other, _, key) in FAMILIES {
        if let Some(key) = key
            && Some(key) != constant
            && section.has(key)
        {
            return Err(section.error(key, format!("belongs to family \"{other}\", not \"{family}\"")));
        }
    }
    if section.has("degrees") && family != "student_t" {
        return Err(section.error("degrees", format!("belongs to family \"student_t\", not \"{family}\"")));
    }
    let layout = Layout::new(&formula, schema, link == "identity").map_err(place)?;
    match (family == "binomial", layout.trials) {
        (true, Trials::None) => {
            let reason = "a binomial response needs its trials, as in `passed | trials(taken) ~ …`";
            return Err(place(formula.error(formula.response.span, reason)));
        }
        (false, Trials::Fixed(_) | Trials::Column(_)) => {
            let reason = format!("only family \"binomial\" has trials, not \"{family}\"");
            return Err(place(formula.error(formula.response.span, reason)));
        }
        _ => {}
    }
    let response = &layout.view.schema().columns()[0];
    if let Some(requirement) = unfit(family, response, layout.trials) {
        let reason = format!("the response of family \"{family}\" {requirement}");
        return Err(place(formula.error(formula.response.span, reason)));
    }

    let priors = Priors::read(section, &layout, link, response, constant)?;
    let nuisance = |key: &str| -> Result<Nuisance, SpecError> {
        Ok(match section.positive(key)? {
            Some(_) if section.table("priors")?.is_some_and(|priors| priors.contains_key(key)) => {
                return Err(section.error(key, "is either known or has a prior, not both"));
            }
            Some(known) => Nuisance::Known(known),
            None => Nuisance::Unknown(priors.nuisance),
        })
    };
    let family = match (family, link) {
        ("gaussian", _) => Family::Gaussian { sd: nuisance("sd")? },
        ("student_t", _) => {
            let degrees = section.positive("degrees")?.unwrap_or(4.0);
            Family::StudentT { degrees, scale: nuisance("scale")? }
        }
        ("bernoulli", "probit") => Family::Bernoulli(Link::Probit),
        ("bernoulli", _) => Family::Bernoulli(Link::Logit),
        ("binomial", _) => Family::Binomial,
        ("poisson", _) => Family::Poisson,
        ("negative_binomial", _) => Family::NegativeBinomial { size: nuisance("size")? },
        ("exponential", _) => Family::Gamma { shape: Nuisance::Known(1.0) },
        _ => Family::Gamma { shape: nuisance("shape")? },
    };
    let model = assemble(&layout, &priors.coefficients)
        .and_then(|design| Regression::new(design, family))
        .map_err(|error| match error {
            barkeep_model::Error::Key { key, requirement } => section.error(key, requirement),
            other => SpecError::new(section.path(), other.to_string()),
        })?;
    Ok((sides(model), layout.view))
}

/// The design of a layout.
fn assemble(layout: &Layout, priors: &[Prior]) -> Result<Design, barkeep_model::Error> {
    let columns = layout.view.schema().columns();
    let names = layout.features().iter().map(|feature| feature.name().to_owned()).collect();
    let mut design = Design::new(columns[0].name(), names, layout.intercept, Prior::Flat)?;
    design = match layout.trials {
        Trials::None => design,
        Trials::Fixed(trials) => design.with_fixed_trials(trials)?,
        Trials::Column(typical) => design.with_trials(columns[1].name(), typical)?,
    };
    if let Some(typical) = layout.offset {
        design = design.with_offset(columns[layout.lead() - 1].name(), typical)?;
    }
    design.with_priors(priors)?.with_moments(&layout.means, &layout.moments)?.with_corners(&layout.corners)
}

/// What keeps a column from being a family's response, if anything does.
fn unfit(family: &str, response: &Column, trials: Trials) -> Option<&'static str> {
    let count = matches!(response.kind(), Kind::Integer { min, .. } if *min >= 0.0);
    let (low, high) = response.range();
    match family {
        "gaussian" | "student_t" => {
            response.bounds().is_none().then_some("must be a column of kind \"real\" or \"integer\"")
        }
        // A category of two levels has become an indicator by now.
        "bernoulli" => ((low, high) != (0.0, 1.0)).then_some(
            "must be a column of kind \"bool\", a category of two levels, or an integer from 0 to 1",
        ),
        "binomial" => match trials {
            _ if !count => Some("must be a column of kind \"integer\" with a min of at least 0"),
            Trials::Fixed(trials) if high > trials => Some("must have a max of at most the trials"),
            _ => None,
        },
        "poisson" | "negative_binomial" => {
            (!count).then_some("must be a column of kind \"integer\" with a min of at least 0")
        }
        _ => (response.bounds().is_none() || low <= 0.0)
            .then_some("must be a column of kind \"real\" or \"integer\" with a min above 0"),
    }
}

/// The priors of a regression, declared or by default.
struct Priors {
    coefficients: Vec<Prior>,
    nuisance: Prior,
}

impl Priors {
    fn read(
        section: &Section<'_>,
        layout: &Layout,
        link: &str,
        response: &Column,
        constant: Option<&str>,
    ) -> Result<Self, SpecError> {
        let empty = toml::Table::new();
        let table = section.table("priors")?.unwrap_or(&empty);
        let declared = Section::open(&section.name("priors"), table);
        let given = |name: &str| -> Result<Option<Prior>, SpecError> {
            declared.text(name)?.map(|text| parse(&declared, name, text)).transpose()
        };
        let mut known: Vec<String> = vec!["coefficients".to_owned()];
        known.extend(layout.intercept.then(|| "intercept".to_owned()));
        known.extend(constant.map(str::to_owned));
        known.extend(layout.features().iter().map(|feature| feature.name().to_owned()));
        known.extend(layout.terms.iter().cloned());
        if let Some(name) = table.keys().find(|name| !known.contains(name)) {
            let nearest = suggestion(name, known.iter().map(String::as_str));
            return Err(
                declared.error(name, format!("there is no such coefficient, term or constant{nearest}"))
            );
        }
        let (low, high) = response.range();
        let half = |(low, high): (f64, f64)| (0.5 * high - 0.5 * low).max(f64::MIN_POSITIVE);
        let unit = if link == "identity" { half((low, high)) } else { 1.0 };
        let group = given("coefficients")?;
        let mut coefficients = Vec::new();
        if layout.intercept {
            let (middle, sd) = match link {
                "identity" => (0.5 * low + 0.5 * high, 2.5 * unit),
                "log" => {
                    // A count of 0 has no logarithm; half a count has.
                    let (low, high) = (low.max(0.5_f64.min(high)).ln(), high.ln());
                    (0.5 * (low + high), half((low, high)).max(2.5))
                }
                _ => (0.0, 2.5),
            };
            let default = Prior::Normal { mean: middle - layout.offset.map_or(0.0, |(mean, _)| mean), sd };
            coefficients.push(given("intercept")?.unwrap_or(default));
        }
        for (feature, term) in layout.features().iter().zip(&layout.terms) {
            let exact = given(feature.name())?;
            let default = Prior::Normal { mean: 0.0, sd: 2.5 * unit / half(feature.range()) };
            coefficients.push(exact.or(given(term)?).or(group).unwrap_or(default));
        }
        let default = if link == "identity" {
            Prior::HalfNormal { scale: unit }
        } else {
            Prior::Exponential { rate: 0.1 }
        };
        let nuisance = constant.map(given).transpose()?.flatten().unwrap_or(default);
        Ok(Self { coefficients, nuisance })
    }
}

/// A prior as a person writes it, such as `normal(0, 2.5)`.
fn parse(section: &Section<'_>, key: &str, text: &str) -> Result<Prior, SpecError> {
    let (name, arguments) = match text.trim().split_once('(') {
        Some((name, rest)) => (name.trim(), rest.trim_end().strip_suffix(')')),
        None => (text.trim(), Some("")),
    };
    let numbers: Option<Vec<f64>> = arguments.and_then(|arguments| {
        let cells = arguments.split(',').map(str::trim).filter(|cell| !cell.is_empty());
        cells.map(|cell| cell.parse().ok()).collect()
    });
    let prior = match (name, numbers.as_deref()) {
        ("normal", Some(&[mean, sd])) => Some(Prior::Normal { mean, sd }),
        ("student_t", Some(&[degrees, location, scale])) => {
            Some(Prior::StudentT { degrees, location, scale })
        }
        ("cauchy", Some(&[location, scale])) => Some(Prior::Cauchy { location, scale }),
        ("half_normal", Some(&[scale])) => Some(Prior::HalfNormal { scale }),
        ("exponential", Some(&[rate])) => Some(Prior::Exponential { rate }),
        ("flat", Some(&[])) => Some(Prior::Flat),
        _ => None,
    };
    prior
        .ok_or_else(|| {
            section.error(
                key,
                "must be normal(mean, sd), student_t(degrees, location, scale), cauchy(location, scale), \
                 half_normal(scale), exponential(rate) or flat",
            )
        })?
        .checked("priors")
        .map_err(|error| match error {
            barkeep_model::Error::Key { requirement, .. } => section.error(key, requirement),
            other => section.error(key, other.to_string()),
        })
}
