//! Figure 6.2: what clipping alone does to the posterior, by random-walk Metropolis–Hastings and HMC without noise.
//!
//! The thesis' settings of this figure are not published beyond the numbers of draws (3000 and 500); steps here are chosen from the
//! model's own information so that unclipped chains converge. The clip is constant per unit of distance, as in the private samplers.

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

/// Model, sampler, section and clips.
type Group = (&'static str, String, String, Vec<f64>);

/// Every model's samplers and the clips they are run with.
fn groups() -> Result<Vec<Group>, String> {
    let all: toml::Table = SAMPLERS.parse().map_err(|_| "clipping.toml is not TOML".to_owned())?;
    let mut found = Vec::new();
    for model in MODELS {
        for sampler in ["rwmh", "hmc"] {
            let section = all.get(model).and_then(|model| model.get(sampler)).and_then(toml::Value::as_table);
            let mut section =
                section.cloned().ok_or_else(|| format!("clipping.toml has no {model}.{sampler}"))?;
            let clips =
                section.remove("clips").and_then(|clips| clips.as_array().cloned()).unwrap_or_default();
            let clips = clips.iter().filter_map(toml::Value::as_float).collect();
            found.push((model, sampler.to_owned(), section.to_string(), clips));
        }
    }
    Ok(found)
}

impl Cell {
    fn compute(&self) -> Result<Values, String> {
        let setting = named(self.setting).ok_or_else(|| format!("no model {}", self.setting))?;
        let case = setting.matched(self.chains)?;
        let mut section: toml::Table =
            self.section.parse().map_err(|_| "a sampler that is not TOML".to_owned())?;
        section.insert("clip".to_owned(), self.clip.into());
        let mut spec: toml::Table =
            setting.spec(&section.to_string()).parse().map_err(|_| "a spec that is not TOML".to_owned())?;
        let not_private: toml::Table = [("private".to_owned(), false.into())].into_iter().collect();
        spec.insert("privacy".to_owned(), not_private.into());
        let spec = Spec::parse(&spec.to_string(), Path::new("")).map_err(|error| error.to_string())?;
        let plan = Plan::new(spec).map_err(|error| error.to_string())?;
        let half = usize::try_from((plan.steps().0 - 1) / 2).unwrap_or(usize::MAX);
        let reference = Points::new(&case.reference, setting.dimension).ok_or("no exact draws")?;
        let likelihood = Arc::clone(plan.spec().likelihood());
        let clips = Clips { log_ratio: Some(self.clip), by_distance: false, gradient: None };
        let (mut distances, mut clipped, mut rng) = (Vec::new(), Vec::new(), PublicRng::new(1, 2));
        for (seed, start) in (1..).zip(&case.starts) {
            let counter = Arc::new(ClipCounter::new(Arc::clone(&likelihood), clips));
            let observer = Some(Arc::<ClipCounter>::clone(&counter) as Arc<dyn Likelihood>);
            for draws in runs(&plan, &case.table, std::slice::from_ref(start), seed, observer)? {
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
        for (model, sampler, section, clips) in groups()? {
            if size == Size::Quick && model != MODELS[0] {
                continue;
            }
            let clips: Vec<f64> = size.pick(clips.iter().copied().step_by(3).collect(), clips.clone());
            for clip in clips {
                let cell = Cell {
                    setting: model,
                    sampler: sampler.clone(),
                    section: section.clone(),
                    clip,
                    chains: size.pick(1, 20),
                };
                let settings = format!("{cell:?}");
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
                Axis::log("clip bound on one record's |log-ratio|"),
                Axis::log("MMD").from(0.008, 1.0),
            );
            let mut by_share = Panel::new(name, Axis::new("clipped (%)"), Axis::log("MMD").from(0.008, 1.0));
            for (colour, (_, sampler, _, clips)) in
                groups()?.into_iter().filter(|group| group.0 == name).enumerate()
            {
                let (mut against_clip, mut against_share) = (Vec::new(), Vec::new());
                for clip in clips {
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
        top.append(&mut bottom);
        let title =
            "Thesis, figure 6.2: effect of clipping on the distance to the posterior (medians and quartiles)";
        Ok((Figure { size: (430.0, 300.0), ..Figure::new(title, 2, top) }, comparison))
    }
}
