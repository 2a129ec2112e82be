//! Figure 6.2: what clipping alone does to the posterior, by random-walk Metropolis–Hastings and HMC without noise.
//!
//! Records, settings and exact draws are those of the thesis' code. Its starts here come from another generator, so they are drawn anew by the
//! same rule. Its code takes for the length of a step the absolute sum of its coordinates; the clip here is in proportion to the length itself,
//! as its text says.

use super::named;
use crate::clip_counter::{ClipCounter, Clips};
use crate::experiment::{Cells, Comparison, Experiment, Row, Size, Task, Values, values};
use crate::published::quartiles;
use crate::replicate::runs;
use barkeep::diagnostics::{Points, mmd::mmd};
use barkeep::model::Likelihood;
use barkeep::{Plan, PublicRng, Spec};
use barkeep_plot::{Axis, Figure, Mark, Panel, Shape, Style};
use std::path::Path;
use std::sync::Arc;

/// The experiment.
pub(crate) struct ClipEffect;

/// Model, sampler, its `[sampler]` section and draws; clips are filled in.
const SAMPLERS: &str = include_str!("../../specs/thesis/clipping.toml");

const MODELS: [&str; 2] = ["easy-2d", "easy-10d"];

/// Records of both models; in the other figures the larger one has twice as many.
const RECORDS: usize = 100_000;

/// Standard deviation of the starts around the parameters that records were drawn from.
const START_SD: f64 = 0.05;

#[derive(Debug, Clone, PartialEq)]
struct Cell {
    setting: &'static str,
    sampler: String,
    section: String,
    clip: f64,
    chains: usize,
}

fn key(model: &str, sampler: &str, clip: f64) -> String {
    format!("{model} {sampler} clip={clip}")
}

fn exact_key(model: &str) -> String {
    format!("{model} exact")
}

/// Model, sampler and section.
type Group = (&'static str, String, String);

fn written() -> Result<toml::Table, String> {
    SAMPLERS.parse().map_err(|_| "clipping.toml is not TOML".to_owned())
}

fn clips() -> Result<Vec<f64>, String> {
    let all = written()?;
    let list = all.get("clips").and_then(toml::Value::as_array).ok_or("clipping.toml has no clips")?;
    let number = |value: &toml::Value| value.as_float().or(value.as_integer().map(|whole| whole as f64));
    Ok(list.iter().filter_map(number).collect())
}

/// Every model's samplers.
fn groups() -> Result<Vec<Group>, String> {
    let all = written()?;
    let mut found = Vec::new();
    for model in MODELS {
        for sampler in ["rwmh", "hmc"] {
            let section = all.get(model).and_then(|model| model.get(sampler)).and_then(toml::Value::as_table);
            let section = section.ok_or_else(|| format!("clipping.toml has no {model}.{sampler}"))?;
            found.push((model, sampler.to_owned(), section.to_string()));
        }
    }
    Ok(found)
}

/// Distances of exact draws.
fn exact(model: &'static str) -> Result<Values, String> {
    let setting = named(model).ok_or_else(|| format!("no model {model}"))?;
    let case = setting.published(RECORDS, 0)?;
    let reference = Points::new(&case.reference, setting.dimension).ok_or("no exact draws")?;
    let mut rng = PublicRng::new(1, 3);
    let more = setting.more_draws(RECORDS, &case.means)?;
    let distance = |draws: &Vec<f64>| mmd(&Points::new(draws, setting.dimension)?, &reference, &mut rng);
    Ok(values([("mmd", more.iter().filter_map(distance).collect())]))
}

impl Cell {
    fn compute(&self) -> Result<Values, String> {
        let setting = named(self.setting).ok_or_else(|| format!("no model {}", self.setting))?;
        let case = setting.published(RECORDS, 0)?;
        let mut section: toml::Table =
            self.section.parse().map_err(|_| "a sampler that is not TOML".to_owned())?;
        section.insert("clip".to_owned(), self.clip.into());
        section.insert("clip_scale".to_owned(), "distance".into());
        let mut spec: toml::Table =
            setting.spec(&section.to_string()).parse().map_err(|_| "a spec that is not TOML".to_owned())?;
        let not_private: toml::Table = [("private".to_owned(), false.into())].into_iter().collect();
        spec.insert("privacy".to_owned(), not_private.into());
        if let Some(toml::Value::Table(data)) = spec.get_mut("data") {
            data.insert("records".to_owned(), i64::try_from(RECORDS).unwrap_or(0).into());
        }
        let spec = Spec::parse(&spec.to_string(), Path::new("")).map_err(|error| error.to_string())?;
        let plan = Plan::new(spec).map_err(|error| error.to_string())?;
        let half = usize::try_from((plan.steps().0 - 1) / 2).unwrap_or(usize::MAX);
        let reference = Points::new(&case.reference, setting.dimension).ok_or("no exact draws")?;
        let likelihood = Arc::clone(plan.spec().likelihood());
        let clips = Clips { log_ratio: Some(self.clip), by_distance: true, gradient: None };
        let (mut distances, mut clipped, mut rng) = (Vec::new(), Vec::new(), PublicRng::new(1, 2));
        let mut starts = PublicRng::new(1, 1);
        for seed in (1..).take(self.chains) {
            let start: Vec<f64> = setting.centre().iter().map(|x| x + START_SD * starts.normal()).collect();
            let counter = Arc::new(ClipCounter::new(Arc::clone(&likelihood), clips, &case.columns));
            let observer = Some(Arc::<ClipCounter>::clone(&counter) as Arc<dyn Likelihood>);
            for draws in runs(&plan, &case.table, std::slice::from_ref(&start), seed, observer)? {
                let kept = draws.pooled(half);
                let kept = Points::new(&kept, setting.dimension).ok_or("a chain without draws")?;
                distances.extend(mmd(&kept, &reference, &mut rng));
            }
            clipped.extend(counter.clipped_log_ratios());
        }
        Ok(values([("mmd", distances), ("clipped", clipped)]))
    }
}

impl Experiment for ClipEffect {
    fn name(&self) -> &'static str {
        "thesis-6.2"
    }

    fn about(&self) -> &'static str {
        "effect of clipping on MMD, random walk and HMC without noise, flat bananas, d = 2 and 10"
    }

    fn tasks(&self, size: Size) -> Result<Vec<Task>, String> {
        let mut tasks = Vec::new();
        for model in MODELS {
            if size == Size::Full || model == MODELS[0] {
                tasks.push(Task::new(exact_key(model), "thesis", move || exact(model)));
            }
        }
        for (model, sampler, section) in groups()? {
            if size == Size::Quick && model != MODELS[0] {
                continue;
            }
            for clip in clips()?.into_iter().step_by(size.pick(4, 1)) {
                let cell = Cell {
                    setting: model,
                    sampler: sampler.clone(),
                    section: section.clone(),
                    clip,
                    chains: size.pick(1, 20),
                };
                let settings = format!("{cell:?} thesis");
                tasks.push(Task::new(key(model, &sampler, clip), settings, move || cell.compute()));
            }
        }
        Ok(tasks)
    }

    fn show(&self, cells: &Cells) -> Result<(Figure, Comparison), String> {
        let mut comparison = Comparison::new("MMD at this clip", "share clipped");
        let mut top = Vec::new();
        let mut bottom = Vec::new();
        for name in MODELS {
            let mut by_clip = Panel::new(
                name,
                Axis::log("clip bound on one record's |log-ratio|, per unit of distance"),
                Axis::log("MMD").from(0.008, 1.0),
            );
            let mut by_share = Panel::new(name, Axis::new("clipped (%)"), Axis::log("MMD").from(0.008, 1.0));
            if let Some(exact) = cells.numbers(&exact_key(name), "mmd") {
                let ends = [f64::min, f64::max].map(|end| exact.iter().copied().reduce(end).unwrap_or(0.0));
                let shown = format!("{:.3} to {:.3}", ends[0], ends[1]);
                comparison.rows.push(Row::new(
                    format!("{name}, nine exact samples"),
                    None,
                    Some(shown),
                    None,
                ));
                for (panel, from, to) in [(&mut by_clip, 0.4, 1200.0), (&mut by_share, 0.0, 100.0)] {
                    for level in ends {
                        let style =
                            Style { width: 1.0, ..Style::line("nine exact samples: least, largest", 9) };
                        panel.marks.push(Mark::Line { points: vec![(from, level), (to, level)], style });
                    }
                }
            }
            for (colour, (_, sampler, _)) in groups()?.into_iter().filter(|group| group.0 == name).enumerate()
            {
                let (mut against_clip, mut against_share) = (Vec::new(), Vec::new());
                for clip in clips()? {
                    let key = key(name, &sampler, clip);
                    let (Some(mmd), Some(share)) =
                        (cells.numbers(&key, "mmd"), cells.numbers(&key, "clipped"))
                    else {
                        continue;
                    };
                    let (Some(mmd), Some([_, share, _])) = (quartiles(mmd), quartiles(share)) else {
                        continue;
                    };
                    against_clip.push((clip, mmd[0], mmd[1], mmd[2]));
                    against_share.push((100.0 * share, mmd[0], mmd[1], mmd[2]));
                    let found = format!("{:.3} [{:.3}, {:.3}]", mmd[1], mmd[0], mmd[2]);
                    let what = format!("{name}, {sampler}, clip {clip}");
                    comparison.rows.push(Row::new(
                        what,
                        None,
                        Some(found),
                        Some(format!("{:.1} %", 100.0 * share)),
                    ));
                }
                let style = Style::points(sampler.to_uppercase(), colour, Shape::Disc);
                by_clip.marks.push(Mark::Ranges { points: against_clip, style: style.clone() });
                by_share.marks.push(Mark::Ranges { points: against_share, style });
            }
            top.push(by_clip);
            bottom.push(by_share);
        }
        comparison.notes.push(
            "The thesis shows curves without numbers and finds no effect while less than a fifth of the log-ratios are clipped.".to_owned(),
        );
        comparison.notes.extend(agreement(cells)?);
        top.append(&mut bottom);
        let title =
            "Thesis, figure 6.2: effect of clipping on the distance to the posterior (medians and quartiles)";
        Ok((Figure { size: (430.0, 300.0), ..Figure::new(title, 2, top) }, comparison))
    }
}

/// Whether little clipping has no effect here: the median MMD where less than a fifth is clipped, over that at the widest bound.
fn agreement(cells: &Cells) -> Result<Vec<String>, String> {
    let mut found = Vec::new();
    for (model, sampler, _) in groups()? {
        let median = |clip: f64, name: &str| {
            let [_, median, _] = quartiles(cells.numbers(&key(model, &sampler, clip), name)?)?;
            Some(median)
        };
        let clips = clips()?;
        let Some(widest) = clips.last().and_then(|clip| median(*clip, "mmd")) else { continue };
        let little = clips.iter().filter_map(|clip| {
            let (share, mmd) = (median(*clip, "clipped")?, median(*clip, "mmd")?);
            (share < 0.2).then_some(mmd / widest)
        });
        let ends: Vec<f64> = little.collect();
        let end = |pick: fn(f64, f64) -> f64| ends.iter().copied().reduce(pick).unwrap_or(f64::NAN);
        found.push(format!(
            "{model}, {}: where less than a fifth is clipped the median MMD is {:.2} to {:.2} times that at the widest bound, {widest:.3}.",
            sampler.to_uppercase(),
            end(f64::min),
            end(f64::max)
        ));
    }
    Ok(found)
}
