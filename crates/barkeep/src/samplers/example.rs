//! Shows every sampler at work: one list of specs that is planned, attacked, held to the bit and shown to users.

use crate::samplers::entry::{SamplerEntry, StartRule};

/// A sampler's keys in a [`Scene`], as its entry lists them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Example {
    /// What sets it apart from the sampler's other examples; empty for the first.
    variant: &'static str,
    scene: Scene,
    /// What `[sampler]` says beside `name` and `start`.
    keys: &'static str,
}

/// All of a spec but its sampler: columns, model, budget, and where records come from and chains start.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scene {
    name: &'static str,
    columns: &'static str,
    model: &'static str,
    theta: &'static [f64],
    records: u64,
    budget: &'static str,
    /// What `[sampler]` says in every example of the scene.
    keys: &'static str,
    /// Whether a run is short enough to be repeated as often as an audit repeats it.
    audited: bool,
}

/// An example written out.
#[derive(Debug, Clone, PartialEq)]
pub struct ExampleSpec {
    /// The sampler's name, and what sets the example apart from its others.
    pub title: String,
    /// A whole spec in TOML. Its file of records does not exist: simulate them.
    pub text: String,
    /// Parameters of the model to simulate records with.
    pub theta: &'static [f64],
    /// Whether `barkeep audit --all` attacks it: a run takes microseconds.
    pub audited: bool,
}

impl Example {
    /// An example that is audited: a normal mean from a few records.
    pub(crate) const fn small(records: u64, keys: &'static str) -> Self {
        let scene = Scene {
            name: "",
            columns: "x = { min = -100, max = 100, invalid = 0 }",
            model: "name = 'gaussian'",
            theta: &[0.0],
            records,
            budget: "epsilon = 1\ndelta = 1e-3",
            keys: "",
            audited: true,
        };
        Self { variant: "", scene, keys }
    }

    /// An example that is audited: a proportion, as a regression on nothing, from a few records.
    pub(crate) const fn small_regression(records: u64, keys: &'static str) -> Self {
        let scene = Scene {
            columns: "y = { kind = 'bool', invalid = false }",
            model: "formula = 'y ~ 1'\nfamily = 'bernoulli'",
            ..Self::small(records, keys).scene
        };
        Self { variant: "", scene, keys }
    }

    /// An example on many records.
    pub(crate) const fn large(scene: Scene, keys: &'static str) -> Self {
        Self { variant: scene.name, scene, keys }
    }

    /// The example under a name that sets it apart.
    pub(crate) const fn named(self, variant: &'static str) -> Self {
        Self { variant, ..self }
    }

    /// The example written out for its sampler.
    pub(crate) fn write(&self, sampler: &SamplerEntry) -> ExampleSpec {
        let Self { variant, scene, .. } = self;
        let title = match *variant {
            "" => sampler.name.to_owned(),
            variant => format!("{}, {variant}", sampler.name),
        };
        let privacy = if sampler.private { scene.budget } else { "private = false" };
        let text = format!(
            "[data]\npath = 'simulated.csv'\nrecords = {}\n[data.columns]\n{}\n[model]\n{}\n[privacy]\n{privacy}\n{}{}\n",
            scene.records,
            scene.columns,
            scene.model,
            self.section(sampler),
            scene.keys
        );
        ExampleSpec { title, text, theta: scene.theta, audited: scene.audited && sampler.private }
    }

    /// The `[sampler]` section of the example.
    pub(crate) fn section(&self, sampler: &SamplerEntry) -> String {
        let start = match sampler.start {
            StartRule::Required | StartRule::PriorMode => format!("start = {:?}\n", self.scene.theta),
            StartRule::Independent => String::new(),
        };
        let end = if self.keys.is_empty() { "" } else { "\n" };
        format!("[sampler]\nname = '{}'\n{start}{}{end}", sampler.name, self.keys)
    }
}

/// A scene of more than one block of records for each of several threads, and few steps.
const LARGE: Scene = Scene {
    name: "",
    columns: "",
    model: "",
    theta: &[],
    records: 40_000,
    budget: "epsilon = 8\ndelta = 1e-5",
    keys: "steps = 12",
    audited: false,
};

/// Two correlated columns.
pub(crate) const GAUSSIAN: Scene = Scene {
    name: "gaussian",
    columns: "x1 = { min = -30, max = 30, invalid = 0 }\nx2 = { min = -30, max = 30, invalid = 0 }",
    model: "name = 'gaussian'\ncovariance = [[1, 0.6], [0.6, 2]]\nprior_variance = 4",
    theta: &[0.5, -1.0],
    ..LARGE
};

/// A bent posterior.
pub(crate) const BANANA: Scene = Scene {
    name: "banana",
    columns: "x1 = { min = -50, max = 50, invalid = 0 }\nx2 = { min = -50, max = 50, invalid = 0 }",
    model: "name = 'banana'",
    theta: &[0.0, 3.0],
    ..LARGE
};

/// A posterior on a ring.
pub(crate) const CIRCLE: Scene = Scene {
    name: "circle",
    columns: "r = { min = -50, max = 50, invalid = 0 }",
    model: "name = 'circle'",
    theta: &[0.0, 3.0],
    ..LARGE
};

/// A posterior of two modes, tempered.
pub(crate) const MIXTURE: Scene = Scene {
    name: "mixture",
    columns: "x = { min = -50, max = 50, invalid = 0 }",
    model: "name = 'mixture'\nn0 = 100",
    theta: &[0.0, 1.0],
    ..LARGE
};

/// One proportion.
pub(crate) const BERNOULLI: Scene = Scene {
    name: "bernoulli",
    columns: "x = { kind = 'bool', invalid = false }",
    model: "name = 'bernoulli'",
    theta: &[0.4],
    ..LARGE
};

/// A regression by formula.
pub(crate) const LOGISTIC: Scene = Scene {
    name: "logistic regression",
    columns: "y = { kind = 'bool', invalid = false }\nx1 = { min = -1, max = 1, invalid = 0 }\n\
              x2 = { min = -1, max = 1, invalid = 0 }",
    model: "formula = 'y ~ x1 + x2'\nfamily = 'bernoulli'",
    theta: &[0.2, -0.4, 0.6],
    ..LARGE
};
