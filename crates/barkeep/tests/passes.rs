//! Counts what a run computes: neighbouring records cost exactly the same passes over the likelihood.

#![expect(clippy::unwrap_used, reason = "a test that cannot set itself up has failed")]

use barkeep::curator::TableBuilder;
use barkeep::data::Schema;
use barkeep::machine::{Source, Writer};
use barkeep::model::{Gradient, Likelihood};
use barkeep::{Plan, Spec, insecure::Insecure};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A likelihood that counts the questions it writes, each of which is a pass over the records.
struct Counting {
    likelihood: Arc<dyn Likelihood>,
    ratios: AtomicU64,
    gradients: AtomicU64,
}

impl Counting {
    fn of(plan: &Plan) -> Arc<Self> {
        let likelihood = Arc::clone(plan.spec().likelihood());
        let [ratios, gradients] = [0; 2].map(AtomicU64::new);
        Arc::new(Self { likelihood, ratios, gradients })
    }
}

impl Likelihood for Counting {
    fn dimension(&self) -> usize {
        self.likelihood.dimension()
    }

    fn columns(&self) -> usize {
        self.likelihood.columns()
    }

    fn write_density(&self, theta: &[f64], w: &mut Writer) -> Source {
        self.likelihood.write_density(theta, w)
    }

    fn write_ratio(&self, from: &[f64], to: &[f64], w: &mut Writer) -> Source {
        self.ratios.fetch_add(1, Ordering::Relaxed);
        self.likelihood.write_ratio(from, to, w)
    }

    fn has_gradient(&self) -> bool {
        self.likelihood.has_gradient()
    }

    fn write_gradient(&self, theta: &[f64], w: &mut Writer) -> Gradient {
        self.gradients.fetch_add(1, Ordering::Relaxed);
        self.likelihood.write_gradient(theta, w)
    }
}

/// A plan over 40 records whose likelihood is counted.
fn counted(sampler: &str) -> (Plan, Arc<Counting>) {
    let text = format!(
        "[data]\npath = 'nowhere.csv'\nrecords = 40\n[data.columns]\nx = {{ min = -100, max = 100, invalid = 0 }}\n\
         [model]\nname = 'gaussian'\n[privacy]\nepsilon = 2\ndelta = 1e-4\n[sampler]\nstart = [0]\nseed = 1\n{sampler}\n"
    );
    let plan = Plan::new(Spec::parse(&text, Path::new("")).unwrap()).unwrap();
    let counting = Counting::of(&plan);
    (plan, counting)
}

/// Log-ratios, gradients and steps of one seeded run in which the first of the records says `x`.
fn passes(plan: &Plan, counting: &Arc<Counting>, x: f64) -> (u64, u64, Vec<u64>) {
    let mut table = TableBuilder::new(Schema::unbounded(["x"]).unwrap(), 40).unwrap();
    table.push_row(&[x]).unwrap();
    (1..40).for_each(|i| table.push_row(&[f64::from(i) / 40.0]).unwrap());
    let done = plan
        .runner()
        .insecure(Insecure::seed(5).observed_by(Arc::clone(counting) as Arc<dyn Likelihood>))
        .run(table.finish().unwrap())
        .unwrap();
    (
        counting.ratios.swap(0, Ordering::Relaxed),
        counting.gradients.swap(0, Ordering::Relaxed),
        done.steps_used,
    )
}

#[test]
fn neighbouring_records_cost_the_same_passes() {
    for sampler in [
        "name = 'barker'\nproposal_sd = 0.05\nclip = 1",
        "name = 'barker'\nproposal_sd = 0.05\nclip = 1\nchains = 3",
        "name = 'penalty'\nproposal_sd = 0.05\nclip = 1\ntau = 2",
        "name = 'penalty-minibatch'\nproposal_sd = 0.01\nclip = 1\ntau = 9\nbatch = 4\nsteps = 50",
        "name = 'langevin'\nstep = 0.01\nsteps = 20",
        "name = 'sgld'\nbatch = 10\nstep_size = 0.001\nclip = 1\nsteps = 5",
        "name = 'dp-hmc'\ntau = 1\ntau_gradient = 1\nclip = 1\nclip_gradient = 1\nleapfrog = 2\nstep = 0.05",
    ] {
        let (plan, counting) = counted(sampler);
        let usual = passes(&plan, &counting, 0.5);
        assert!(usual.0 + usual.1 > 0, "{sampler}");
        for x in [-100.0, 100.0, 1e300, -1e-300, f64::MAX, 0.0] {
            assert_eq!(passes(&plan, &counting, x), usual, "{sampler} {x}");
        }
    }
}

/// Bytes of answers that were kept, and steps, of one seeded noise-aware run in which the first of 60 records says `y` and `x`.
fn answers(plan: &Plan, y: f64, x: f64) -> (u64, Vec<u64>) {
    let mut table = TableBuilder::new(plan.view().schema().clone(), 60).unwrap();
    table.push_row(&[y, x]).unwrap();
    (1..60).for_each(|i| table.push_row(&[f64::from(i % 7), f64::from(i % 11) / 6.0 - 1.0]).unwrap());
    let folder = tempfile::tempdir().unwrap();
    let runner = plan.runner().insecure(Insecure::seed(5)).journal(folder.path());
    let done = runner.run(table.finish().unwrap()).unwrap();
    let files = std::fs::read_dir(folder.path()).unwrap();
    (files.map(|file| file.unwrap().metadata().unwrap().len()).sum(), done.steps_used)
}

/// The fit follows the answers, so it may take longer on one table than on another; what is asked never differs.
#[test]
fn neighbouring_records_are_asked_the_same_noise_aware_questions() {
    for (family, y) in [
        ("bernoulli", "kind = 'bool', invalid = false"),
        ("poisson", "kind = 'integer', min = 0, max = 50, invalid = 0"),
    ] {
        let text = format!(
            "[data]\npath = 'nowhere.csv'\nrecords = 60\n[data.columns]\ny = {{ {y} }}\nx = {{ min = -1, max = 1, invalid = 0 }}\n\
             [model]\nformula = 'y ~ x'\nfamily = '{family}'\n[privacy]\nepsilon = 2\ndelta = 1e-4\n[sampler]\n\
             name = 'noise-aware'\nseed = 1\nsteps = 20\n"
        );
        let plan = Plan::new(Spec::parse(&text, Path::new("")).unwrap()).unwrap();
        let usual = answers(&plan, 1.0, 0.3);
        // Eight rounds of two numbers each, at least, in eight bytes.
        assert!(usual.0 >= 8 * 2 * 8 && usual.1 == [20], "{family} {usual:?}");
        for (y, x) in [(0.0, -1.0), (50.0, 1.0), (f64::NAN, 1e300), (-1e300, f64::NAN), (1e-320, -0.0)] {
            assert_eq!(answers(&plan, y, x), usual, "{family} {y} {x}");
        }
    }
}
