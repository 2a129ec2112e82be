//! Reads a regression from `[model]`: formula, family, link, priors and constants, with defaults from public bounds.

use super::{Formula, FormulaError, Layout, Trials};
use crate::keys::{Key, Section, SpecError, key, refused, suggestion};
use barkeep_data::{Schema, View};
use barkeep_model::families::FAMILIES;
use barkeep_model::{
    Choice, Design, FamilyEntry, Link, Nuisance, NuisanceEntry, Prior, Regression, Response, Sides, sides,
};
use std::sync::LazyLock;

/// The keys of a regression, those of the families included.
pub(crate) static REGRESSION_KEYS: LazyLock<Vec<Key>> = LazyLock::new(|| {
    let mut keys = vec![
        key(
            "formula",
            "",
            "as in `late ~ hour + log(distance) * origin + poly(age, 2) + offset(log_n)`; 0 + drops the intercept; a \
             binomial response is `passed | trials(taken)`",
        ),
        key("family", "", quoted(FAMILIES.iter().map(|family| family.name)).leak()),
        key("link", "the family's usual one", link_words().leak()),
        key("priors", "see below", prior_words().leak()),
    ];
    for family in FAMILIES {
        let nuisance = family.nuisance.map(|own| key(own.key, "a parameter", own.meaning));
        for own in nuisance.into_iter().chain(family.constants.iter().copied()) {
            if keys.iter().all(|key| key.name != own.name) {
                keys.push(Key { meaning: format!("{}: {}", family.name, own.meaning).leak(), ..own });
            }
        }
    }
    keys
});

/// `"a", "b" or "c"`.
fn quoted(names: impl Iterator<Item = &'static str>) -> String {
    let mut names: Vec<String> = names.map(|name| format!("\"{name}\"")).collect();
    match names.pop() {
        Some(last) if names.is_empty() => last,
        Some(last) => format!("{} or {last}", names.join(", ")),
        None => String::new(),
    }
}

/// The links of each family, the usual one first.
fn link_words() -> String {
    let of = |family: &FamilyEntry| {
        format!("{}: {}", family.name, quoted(family.links.iter().map(|link| link.name())))
    };
    format!(
        "{}; the usual one first",
        FAMILIES.iter().map(|family| of(family)).collect::<Vec<_>>().join(", ")
    )
}

/// What can have a prior, and the defaults.
fn prior_words() -> String {
    let nuisances: Vec<&NuisanceEntry> = FAMILIES.iter().filter_map(|family| family.nuisance).collect();
    let names: Vec<String> = nuisances.iter().map(|own| format!("\"{}\"", own.key)).collect();
    let defaults: Vec<String> =
        nuisances.iter().map(|own| format!("{} is {}", own.key, own.prior_words)).collect();
    format!(
        "a section: for a coefficient, a term or column, \"intercept\", \"coefficients\" (all others), or {}, a prior \
         such as \"normal(0, 1)\", \"student_t(4, 0, 2.5)\", \"cauchy(0, 1)\", \"half_normal(1)\", \"exponential(1)\" or \
         \"flat\". Default: a slope is normal(0, 2.5·u/h), h half the width of its feature's range and u half the \
         response's (1 where the link is not the identity); an intercept is normal around the middle of the response's \
         bounds with sd 2.5·u, for logit and probit normal(0, 2.5), for log normal around the middle of the bounds' \
         logarithms with half their width as sd, 2.5 at least, each less the offset's mean over its bounds; {}",
        names.join(", "),
        defaults.join(", "),
    )
}

/// Builds the regression a section describes, and the view it reads.
///
/// # Errors
/// The first faulty key; a fault of the formula shows the place.
pub(crate) fn build(section: &Section<'_>, schema: &Schema) -> Result<(Sides, View), SpecError> {
    let text = section.require("formula", section.text("formula")?)?;
    let place = |error: FormulaError| section.error("formula", error.to_string());
    let formula = Formula::parse(text).map_err(place)?;
    let names: Vec<(&str, &FamilyEntry)> = FAMILIES.iter().map(|family| (family.name, *family)).collect();
    let family = section.require("family", section.choice("family", &names)?)?;
    let links: Vec<(&str, Link)> = family.links.iter().map(|link| (link.name(), *link)).collect();
    let link = section.choice("link", &links)?.unwrap_or(family.links[0]);
    refuse_other_keys(section, family)?;
    let layout = Layout::new(&formula, schema, link == Link::Identity).map_err(place)?;
    let name = family.name;
    match (family.response, layout.trials) {
        (Response::Successes, Trials::None) => {
            let reason = format!("a {name} response needs its trials, as in `passed | trials(taken) ~ …`");
            return Err(place(formula.error(formula.response.span, reason)));
        }
        (Response::Successes, Trials::Fixed(_) | Trials::Column(_)) | (_, Trials::None) => {}
        (_, Trials::Fixed(_) | Trials::Column(_)) => {
            let counted = FAMILIES.iter().filter(|family| family.response == Response::Successes);
            let counted = quoted(counted.map(|family| family.name));
            let reason = format!("only family {counted} has trials, not \"{name}\"");
            return Err(place(formula.error(formula.response.span, reason)));
        }
    }
    let response = &layout.view.schema().columns()[0];
    let fixed_trials = match layout.trials {
        Trials::Fixed(trials) => Some(trials),
        Trials::None | Trials::Column(_) => None,
    };
    if let Some(requirement) = family.response.fault(response, fixed_trials) {
        let reason = format!("the response of family \"{name}\" {requirement}");
        return Err(place(formula.error(formula.response.span, reason)));
    }

    let priors = Priors::read(section, &layout, link, response.range(), family.nuisance)?;
    let choice = Choice { link, nuisance: priors.nuisance, settings: section };
    let model = assemble(&layout, &priors.coefficients)
        .and_then(|design| Regression::new(design, (family.build)(&choice)?))
        .map_err(|error| refused(section, error))?;
    Ok((sides(model), layout.view))
}

/// Refuses the keys of other families.
fn refuse_other_keys(section: &Section<'_>, family: &FamilyEntry) -> Result<(), SpecError> {
    let keys = |family: &FamilyEntry| -> Vec<&'static str> {
        let nuisance = family.nuisance.map(|nuisance| nuisance.key);
        nuisance.into_iter().chain(family.constants.iter().map(|key| key.name)).collect()
    };
    let own = keys(family);
    for other in FAMILIES {
        if let Some(key) = keys(other).into_iter().find(|key| !own.contains(key) && section.has(key)) {
            let reason = format!("belongs to family \"{}\", not \"{}\"", other.name, family.name);
            return Err(section.error(key, reason));
        }
    }
    Ok(())
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

/// The priors of a regression, declared or by default, and what is known of the nuisance.
struct Priors {
    coefficients: Vec<Prior>,
    nuisance: Nuisance,
}

impl Priors {
    fn read(
        section: &Section<'_>,
        layout: &Layout,
        link: Link,
        response: (f64, f64),
        nuisance: Option<&NuisanceEntry>,
    ) -> Result<Self, SpecError> {
        let empty = toml::Table::new();
        let table = section.table("priors")?.unwrap_or(&empty);
        let declared = Section::open(&section.name("priors"), table);
        let given = |name: &str| -> Result<Option<Prior>, SpecError> {
            declared.text(name)?.map(|text| parse(&declared, name, text)).transpose()
        };
        let mut known: Vec<String> = vec!["coefficients".to_owned()];
        known.extend(layout.intercept.then(|| "intercept".to_owned()));
        known.extend(nuisance.map(|nuisance| nuisance.key.to_owned()));
        known.extend(layout.features().iter().map(|feature| feature.name().to_owned()));
        known.extend(layout.terms.iter().cloned());
        if let Some(name) = table.keys().find(|name| !known.contains(name)) {
            let nearest = suggestion(name, known.iter().map(String::as_str));
            return Err(
                declared.error(name, format!("there is no such coefficient, term or constant{nearest}"))
            );
        }
        let group = given("coefficients")?;
        let mut coefficients = Vec::new();
        if layout.intercept {
            let default = link.intercept_prior(response, layout.offset.map_or(0.0, |(mean, _)| mean));
            coefficients.push(given("intercept")?.unwrap_or(default));
        }
        for (feature, term) in layout.features().iter().zip(&layout.terms) {
            let exact = given(feature.name())?;
            let default = link.slope_prior(response, feature.range());
            coefficients.push(exact.or(given(term)?).or(group).unwrap_or(default));
        }
        let nuisance = match nuisance {
            // The family has none and ignores it.
            None => Nuisance::Known(1.0),
            Some(nuisance) => match (section.positive(nuisance.key)?, given(nuisance.key)?) {
                (Some(_), Some(_)) => {
                    return Err(section.error(nuisance.key, "is either known or has a prior, not both"));
                }
                (Some(known), None) => Nuisance::Known(known),
                (None, prior) => {
                    Nuisance::Unknown(prior.unwrap_or_else(|| (nuisance.prior)(link.unit(response))))
                }
            },
        };
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
