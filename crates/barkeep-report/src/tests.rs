//! Checks the page: its sections, that nothing a person wrote becomes markup, its size, its colours, and what it says of bad runs.

use super::*;
use barkeep::curator::TableBuilder;
use barkeep::{PublicRng, Spec};
use std::collections::BTreeSet;
use std::path::Path;

/// The page of a run on made-up records.
fn page(spec: &str, records: usize) -> String {
    let plan = Plan::new(Spec::parse(spec, Path::new("")).unwrap()).unwrap();
    let mut table = TableBuilder::viewed(plan.view().clone(), plan.spec().count()).unwrap();
    let (width, mut rng) = (plan.view().source().width(), PublicRng::new(5, 0));
    for _ in 0..records {
        let row: Vec<f64> = (0..width).map(|_| f64::from(u8::from(rng.uniform() < 0.5))).collect();
        table.push_row(&row).unwrap();
    }
    let run = plan.run(table.finish().unwrap()).unwrap();
    let finished = Finished::of(&plan, &run);
    Report::of(&finished).html().unwrap()
}

const FORMULA: &str = r#"[data]
path = "r.csv"
records = 3000
id = "cohort"
[data.columns]
late = { kind = "bool", invalid = false }
hour = { min = 0, max = 24, invalid = 12, scale = "bounds" }
origin = { kind = "category", levels = ["EWR", "JFK"], invalid = "EWR" }
[model]
formula = "late ~ hour + origin"
family = "bernoulli"
[privacy]
epsilon = 2.0
delta = 1e-6
"#;

#[test]
fn the_page_has_its_sections_in_order_and_every_picture_its_words() {
    let html = page(FORMULA, 3000);
    let mut rest = html.as_str();
    for heading in [
        "What was found",
        "What it cost",
        "How far off privacy made it",
        "Can it be trusted",
        "Prior against posterior",
        "What it rests on",
        "How to check it",
    ] {
        let tag = format!(">{heading}</h2>");
        let place = rest.find(&tag).unwrap_or_else(|| panic!("no {heading}"));
        rest = &rest[place..];
    }
    for words in [
        "odds ratio",
        "In original units: log-odds of late</caption>",
        "per 1 of hour",
        "Fit diagnostics",
        "100 dots",
        "No account was charged",
        "ε = 1</th>",
        "ε = 4</th>",
    ] {
        assert!(html.contains(words), "{words}");
    }
    assert_eq!(
        html.matches("<svg").count(),
        html.matches("<svg xmlns='http://www.w3.org/2000/svg' role='img' aria-labelledby='").count()
    );
    assert_eq!(html.matches("<svg").count(), html.matches("<title id='").count());
    assert_eq!(html.matches("<h1").count(), 1);
    assert!(!html.contains("<th scope=\"col\"></th>"), "a column without a name");
    let labels: Vec<&str> =
        html.split("aria-label=\"").skip(1).filter_map(|part| part.split('"').next()).collect();
    assert_eq!(
        labels.iter().collect::<BTreeSet<_>>().len(),
        labels.len(),
        "two landmarks share a name: {labels:?}"
    );
    for landmark in [
        "<main",
        "<nav",
        "<header",
        "lang=\"en\"",
        "Content-Security-Policy",
        "prefers-color-scheme: dark",
        "@media print",
    ] {
        assert!(html.contains(landmark), "{landmark}");
    }
    assert!(!html.contains("<script") && !html.contains("http-equiv=\"refresh") && !html.contains("NaN"));
    let ids: Vec<&str> =
        html.split(" id=").skip(1).filter_map(|part| part.split(['"', '\'']).nth(1)).collect();
    assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), ids.len(), "two elements share an id: {ids:?}");
    assert!(html.len() < 600_000, "{}", html.len());
}

#[test]
fn whatever_a_person_wrote_stays_words() {
    let hostile = "</title></svg></style><script>alert(1)</script><img src=x onerror=alert(2)>&\\\" 'x";
    let spec = FORMULA
        .replace("\"JFK\"", &format!("\"{hostile}\""))
        .replace("id = \"cohort\"", &format!("id = \"{hostile}\""))
        .replace("[model]", "[model] # <script>alert(3)</script>");
    let html = page(&spec, 3000);
    assert_eq!(html.matches("<style").count(), 1);
    assert_eq!(html.matches("</style").count(), 1);
    for tag in ["<script", "<img", "</script", "<iframe"] {
        assert!(!html.contains(tag), "{tag}");
    }
    assert!(html.contains("&lt;script&gt;alert(3)"), "the spec is shown word for word");
    // No attribute ends early: quotes within values are escaped, in the pictures' too.
    assert!(!html.contains("onerror=alert(2)>"));
    let text = FORMULA.split("[model]").next().unwrap().to_owned()
        + "[model]\ntext = '''\n# <script>alert(4)</script> </pre>\nparameters\n  a ~ normal(0, 1)\nrecord\n  late ~ bernoulli_logit(a)\n'''\n"
        + "[privacy]\nepsilon = 8\ndelta = 1e-6\n";
    let html = page(&text, 3000);
    assert!(!html.contains("<script") && html.contains("&lt;script&gt;alert(4)"));
    assert!(html.contains("The model, as written"));
}

#[test]
fn a_bad_run_is_red_and_says_what_to_do() {
    let spec =
        FORMULA.to_owned() + "[sampler]\nname = \"langevin\"\nsteps = 12\nchains = 2\nstart = [3, 3, 3]\n";
    let html = page(&spec, 3000);
    assert!(html.contains("class=\"verdict bad\""));
    assert!(html.contains("Not to be trusted: intervals do not hold what they promise."));
    assert!(html.contains("Remedy: "));
    assert!(html.contains("The paths of the chains"));
}

#[test]
fn a_page_of_many_parameters_and_chains_is_small() {
    let columns: String = (0..30).map(|k| format!("x{k} = {{ min = 0, max = 1, invalid = 0 }}\n")).collect();
    let terms: Vec<String> = (0..30).map(|k| format!("x{k}")).collect();
    let spec = format!(
        "[data]\npath = \"r.csv\"\nrecords = 400000\n[data.columns]\ny = {{ kind = \"bool\", invalid = false }}\n{columns}[model]\n\
         formula = \"y ~ {}\"\nfamily = \"bernoulli\"\n[privacy]\nepsilon = 8\ndelta = 1e-6\n",
        terms.join(" + ")
    );
    let plan = Plan::new(Spec::parse(&spec, Path::new("")).unwrap()).unwrap();
    let names = plan.spec().model().parameter_names().to_vec();
    let mut draws = barkeep::Draws::new(names).unwrap();
    let mut rng = PublicRng::new(1, 0);
    for _ in 0..8 {
        let mut chain = draws.chain();
        for _ in 0..5000 {
            let state: Vec<f64> = (0..31).map(|_| rng.normal()).collect();
            chain.push(&state, barkeep::Outcome::Moved).unwrap();
        }
        draws.add(chain).unwrap();
    }
    let finished = Finished::of_draws(&plan, &draws, 1000);
    let html = Report::of(&finished).html().unwrap();
    assert!(html.len() < 600_000, "{}", html.len());
    assert!(html.contains("Shown are the first 12 of 31 parameters."));
}

/// The contrast of two colours, by WCAG 2: (L₁ + 0.05)/(L₂ + 0.05) of relative luminances.
fn contrast(one: &str, other: &str) -> f64 {
    let luminance = |colour: &str| {
        let part = |from: usize| {
            let value = f64::from(u8::from_str_radix(&colour[from..from + 2], 16).unwrap()) / 255.0;
            if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * part(1) + 0.7152 * part(3) + 0.0722 * part(5)
    };
    let (one, other) = (luminance(one), luminance(other));
    (one.max(other) + 0.05) / (one.min(other) + 0.05)
}

#[test]
fn words_and_marks_stand_out_in_light_dark_and_print() {
    assert!((contrast("#000000", "#ffffff") - 21.0).abs() < 1e-9);
    let style = include_str!("page.css");
    let themes: Vec<&str> =
        style.split(":root {").skip(1).map(|rest| rest.split('}').next().unwrap()).collect();
    assert_eq!(themes.len(), 3);
    for theme in themes {
        let colour = |name: &str| -> &str {
            let at = theme.find(&format!("--{name}: ")).unwrap_or_else(|| panic!("{name}"));
            &theme[at + name.len() + 4..at + name.len() + 11]
        };
        for words in ["ink", "muted", "link", "good", "fair", "bad"] {
            for ground in ["paper", "raised"] {
                let ratio = contrast(colour(words), colour(ground));
                assert!(ratio >= 4.5, "{words} on {ground}: {ratio:.2}");
            }
        }
        for series in 0..10 {
            let ratio = contrast(colour(&format!("c{series}")), colour("paper"));
            assert!(ratio >= 3.0, "c{series}: {ratio:.2}");
        }
    }
}
