//! Lists the functions a text can call, and checks the distributions it names.

use barkeep_data::{Column, Kind};
use barkeep_machine::{Binary, Unary};

use super::build::Value;
use super::fault::{Fault, Span, suggestion};
use super::graph::{Graph, Id, Level, Node};
use super::laws::{Domain, LAWS, Law, LawEntry, Support};

/// The functions of numbers with their numbers of arguments; 0 means two or more.
const FUNCTIONS: [(&str, usize); 21] = [
    ("exp", 1),
    ("expm1", 1),
    ("log", 1),
    ("log1p", 1),
    ("sqrt", 1),
    ("square", 1),
    ("abs", 1),
    ("floor", 1),
    ("pow", 2),
    ("inv_logit", 1),
    ("log_inv_logit", 1),
    ("logit", 1),
    ("normal_cdf", 1),
    ("log_normal_cdf", 1),
    ("lgamma", 1),
    ("digamma", 1),
    ("min", 0),
    ("max", 0),
    ("log_sum_exp", 0),
    ("where", 3),
    ("tanh", 1),
];

/// The most arguments of a distribution.
const MOST_ARGUMENTS: usize = 1001;
/// The most distributions of a mixture, those of mixtures inside it included.
const MOST_PARTS: usize = 100;

/// What else stands before a parenthesis.
const OTHERS: [&str; 4] = ["lpdf", "mixture", "flat", "dirichlet"];

/// Every name a text can call.
fn names() -> impl Iterator<Item = &'static str> {
    FUNCTIONS.iter().map(|(name, _)| *name).chain(OTHERS).chain(LAWS.iter().map(|law| law.name))
}

/// Whether a name is taken by a function or a distribution.
pub(crate) fn is_function(name: &str) -> bool {
    names().any(|known| known == name)
}

/// The distribution of a name.
pub(crate) fn law(name: &str) -> Option<&'static LawEntry> {
    LAWS.iter().find(|entry| entry.name == name).copied()
}

/// A function of numbers.
pub(crate) fn call(graph: &mut Graph, name: &str, a: &[Id], span: Span) -> Result<Id, Fault> {
    let Some((_, arity)) = FUNCTIONS.iter().find(|(known, _)| *known == name) else {
        let nearest = suggestion(name, names());
        return Err(Fault::new(span, format!("there is no function or distribution `{name}`{nearest}")));
    };
    if (*arity > 0 && a.len() != *arity) || (*arity == 0 && a.len() < 2) {
        let wanted = match arity {
            0 => "two or more arguments".to_owned(),
            1 => "one argument".to_owned(),
            arity => format!("{arity} arguments"),
        };
        return Err(Fault::new(span, format!("`{name}` takes {wanted}, not {}", a.len())));
    }
    let fold =
        |graph: &mut Graph, op: Binary| a[1..].iter().fold(a[0], |all, next| graph.binary(op, all, *next));
    Ok(match name {
        "exp" => graph.unary(Unary::Exp, a[0]),
        "expm1" => graph.unary(Unary::ExpM1, a[0]),
        "log" => graph.unary(Unary::Ln, a[0]),
        "log1p" => graph.unary(Unary::Ln1p, a[0]),
        "sqrt" => graph.unary(Unary::Sqrt, a[0]),
        "square" => graph.unary(Unary::Square, a[0]),
        "abs" => graph.unary(Unary::Abs, a[0]),
        "floor" => graph.unary(Unary::Floor, a[0]),
        "pow" => graph.binary(Binary::Pow, a[0], a[1]),
        "inv_logit" => graph.unary(Unary::Sigmoid, a[0]),
        "log_inv_logit" => graph.unary(Unary::LogSigmoid, a[0]),
        "logit" => {
            let minus = graph.negate(a[0]);
            let (log, rest) = (graph.unary(Unary::Ln, a[0]), graph.unary(Unary::Ln1p, minus));
            graph.sub(log, rest)
        }
        "normal_cdf" => graph.unary(Unary::NormalCdf, a[0]),
        "log_normal_cdf" => graph.unary(Unary::LnNormalCdf, a[0]),
        "lgamma" => graph.unary(Unary::LnGamma, a[0]),
        "digamma" => graph.unary(Unary::Digamma, a[0]),
        "min" => fold(graph, Binary::Min),
        "max" => fold(graph, Binary::Max),
        "log_sum_exp" => fold(graph, Binary::LogAddExp),
        "where" => graph.select(a[0], a[1], a[2]),
        "tanh" => {
            let twice = graph.times(2.0, a[0]);
            let share = graph.unary(Unary::Sigmoid, twice);
            let (double, one) = (graph.times(2.0, share), graph.constant(1.0));
            graph.sub(double, one)
        }
        other => return Err(Fault::new(span, format!("there is no function `{other}`"))),
    })
}

/// A distribution with its arguments, checked as far as they are known.
pub(crate) fn check_law(
    graph: &Graph,
    entry: &'static LawEntry,
    arguments: &[(Id, Span)],
    span: Span,
    names: &[String],
) -> Result<Law, Fault> {
    let (fixed, name) = (entry.arguments.len(), entry.name);
    if arguments.len() > MOST_ARGUMENTS {
        let reason =
            format!("`{name}` takes at most {MOST_ARGUMENTS} arguments, and this has {}", arguments.len());
        return Err(Fault::new(span, reason));
    }
    let fits = if entry.rest.is_some() { arguments.len() > fixed } else { arguments.len() == fixed };
    if !fits {
        let mut wanted: Vec<&str> = entry.arguments.iter().map(|(name, _)| *name).collect();
        wanted.extend(entry.rest);
        let dots = if entry.rest.is_some() { ", …" } else { "" };
        let reason =
            format!("write `{name}({}{dots})`: this has {} arguments", wanted.join(", "), arguments.len());
        return Err(Fault::new(span, reason));
    }
    for ((argument, domain), (id, at)) in entry.arguments.iter().zip(arguments) {
        if let Some(value) = graph.value(*id)
            && !domain.holds(value)
        {
            return Err(Fault::new(
                *at,
                format!("`{argument}` of `{name}` must be {}, not {value}", domain.words()),
            ));
        }
        if let (Domain::Positive | Domain::Probability, Node::Parameter(index)) = (domain, graph.node(*id)) {
            let parameter = names.get(*index as usize).map_or("s", String::as_str);
            let written = match domain {
                Domain::Probability => format!("0 < {parameter} < 1"),
                Domain::Positive | Domain::Real => format!("{parameter} > 0"),
            };
            let reason = format!("`{argument}` of `{name}` must be {}: declare `{written}`", domain.words());
            return Err(Fault::new(*at, reason));
        }
    }
    Ok(Law::One { entry, arguments: arguments.iter().map(|(id, _)| *id).collect() })
}

/// `mixture(p, one, other)`, or `mixture(w, …)` with a simplex.
pub(crate) fn mixture(graph: &mut Graph, values: &[(Value, Span)], span: Span) -> Result<Law, Fault> {
    let usage =
        "write `mixture(p, normal(0, 1), normal(3, 1))`, or a simplex with as many entries as distributions";
    let Some(((weight, at), parts)) = values.split_first() else { return Err(Fault::new(span, usage)) };
    let mut laws = Vec::with_capacity(parts.len());
    for (part, at) in parts {
        match part {
            Value::Law(law) => laws.push(Law::clone(law)),
            Value::Number(_) | Value::Vector(_) | Value::Category(_) | Value::Level(_) => {
                return Err(Fault::new(*at, usage));
            }
        }
    }
    let count: usize = laws.iter().map(|law| law.supports().len()).sum();
    if count > MOST_PARTS {
        let reason = format!("a mixture may have {MOST_PARTS} distributions, and this one has {count}");
        return Err(Fault::new(span, reason));
    }
    let weights = match weight {
        Value::Number(p) if laws.len() == 2 => {
            if graph.value(*p).is_some_and(|p| !Domain::Probability.holds(p)) {
                return Err(Fault::new(*at, "a probability must be between 0 and 1"));
            }
            let one = graph.constant(1.0);
            vec![*p, graph.sub(one, *p)]
        }
        Value::Vector(vector) if vector.entries.len() == laws.len() && laws.len() > 1 => {
            vector.entries.clone()
        }
        Value::Number(_) | Value::Vector(_) | Value::Category(_) | Value::Level(_) | Value::Law(_) => {
            return Err(Fault::new(*at, usage));
        }
    };
    if laws.iter().flat_map(Law::supports).any(|support| support == Support::Levels) {
        return Err(Fault::new(span, "laws of levels cannot be mixed"));
    }
    Ok(Law::Mixture(weights.into_iter().zip(laws).collect()))
}

/// Whether a law depends on θ.
pub(crate) fn law_moves(graph: &Graph, law: &Law) -> bool {
    match law {
        Law::One { arguments, .. } => arguments.iter().any(|argument| graph.moves(*argument)),
        Law::Mixture(parts) => {
            parts.iter().any(|(weight, part)| graph.moves(*weight) || law_moves(graph, part))
        }
    }
}

/// What a law's arguments depend on.
pub(crate) fn law_level(graph: &Graph, law: &Law) -> Level {
    let parts: Vec<Level> = match law {
        Law::One { arguments, .. } => arguments.iter().map(|argument| graph.level(*argument)).collect(),
        Law::Mixture(parts) => {
            parts.iter().map(|(weight, part)| graph.level(*weight).max(law_level(graph, part))).collect()
        }
    };
    parts.into_iter().fold(Level::Constant, Level::max)
}

/// What is wrong with a law of levels for a column, if anything is.
pub(crate) fn check_levels(law: &Law, column: &Column) -> Result<(), String> {
    let Law::One { entry, arguments } = law else { return Ok(()) };
    if entry.support != Support::Levels {
        return Ok(());
    }
    let levels = match column.kind() {
        Kind::Category { levels } => levels.len(),
        Kind::Bool => 2,
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a saturating cast")]
        Kind::Integer { min, max } => (max - min + 1.0) as usize,
        Kind::Real { .. } => 0,
    };
    // One cut less than levels, beside the logit; or one logit for each.
    if arguments.len() == levels {
        return Ok(());
    }
    let wanted = levels.saturating_sub(entry.arguments.len());
    let found = arguments.len() - entry.arguments.len();
    let what = entry.rest.unwrap_or("arguments");
    Err(format!(
        "column `{}` has {levels} levels: `{}` needs {wanted} {what}, not {found}",
        column.name(),
        entry.name
    ))
}
