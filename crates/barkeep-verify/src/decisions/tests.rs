//! Corners cover the curve of every rule; a composition is above attacks that can be carried out.

use super::*;
use crate::rule::Component;

fn rules() -> Vec<Rule> {
    let atom = |weight, mean| Component { weight, mean, sd: 0.3 };
    vec![
        Rule::Barker,
        Rule::Penalty { sigma: 0.1 },
        Rule::Penalty { sigma: 1.0 },
        Rule::Penalty { sigma: 6.0 },
        Rule::Corrected { variance: 1.0, correction: vec![atom(0.8, 0.0), atom(0.1, 3.0), atom(0.1, -3.0)] },
        Rule::Lazy { keep: 0.3, rule: Box::new(Rule::Barker) },
        Rule::Lazy { keep: 0.8, rule: Box::new(Rule::Penalty { sigma: 2.0 }) },
    ]
}

/// a(t), as the accountant computes it.
fn accept(rule: &Rule, t: f64) -> f64 {
    use barkeep_accounting as accounting;
    let same: accounting::Rule = match rule {
        Rule::Barker => accounting::Rule::Barker,
        Rule::Penalty { sigma } => accounting::Rule::Penalty { sigma: *sigma },
        Rule::Corrected { variance, correction } => {
            let part = |c: &Component| accounting::Component { weight: c.weight, mean: c.mean, sd: c.sd };
            let correction = accounting::Correction::new(correction.iter().map(part).collect()).unwrap();
            accounting::Rule::Corrected { variance: *variance, correction }
        }
        Rule::Lazy { keep, rule } => return keep * accept(rule, t),
    };
    same.accept(t)
}

/// The upper hull of corners and diagonal at q: the largest p of any segment between two of them.
fn hull(corners: &[Pair], q: f64) -> f64 {
    let mut points: Vec<Pair> =
        corners.iter().map(|(p, q)| (*q, *p)).chain([(0.0, 0.0), (1.0, 1.0)]).collect();
    points.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let mut upper: Vec<Pair> = Vec::new();
    for (x, y) in points {
        while upper.len() >= 2 {
            let ((x0, y0), (x1, y1)) = (upper[upper.len() - 2], upper[upper.len() - 1]);
            if (x1 - x0) * (y - y0) - (x - x0) * (y1 - y0) < 0.0 {
                break;
            }
            upper.pop();
        }
        upper.push((x, y));
    }
    let right = upper.partition_point(|(x, _)| *x < q).clamp(1, upper.len() - 1);
    let ((x0, y0), (x1, y1)) = (upper[right - 1], upper[right]);
    if x1 > x0 { y0 + (y1 - y0) * (q - x0) / (x1 - x0) } else { y0.max(y1) }
}

#[test]
fn corners_cover_what_a_step_can_do() {
    for rule in rules() {
        for sensitivity in [0.01, 0.3, 2.0] {
            let sensitivity = up_to_grid(sensitivity);
            let all = corners(&rule, sensitivity, 1e-12).unwrap();
            let concave = rule == Rule::Barker;
            // Corners are named by either outcome; the other name is the point reflected.
            let named: Vec<Pair> = all.iter().flat_map(|&(p, q)| [(p, q), (1.0 - q, 1.0 - p)]).collect();
            for k in -400..400 {
                let t = 0.05 * f64::from(k);
                let (p, q) = (accept(&rule, t), accept(&rule, t - sensitivity));
                let top = hull(&named, q);
                assert!(top >= p - 1e-12, "{rule:?} {sensitivity} at {t}: {p} above {top}");
                // Close, where coins are not rare.
                if concave && q > 0.05 && p < 0.95 {
                    assert!(top - p <= 0.03 * (p - q), "{rule:?} {sensitivity} at {t}: {p} far below {top}");
                }
            }
        }
    }
}

#[test]
fn one_decision_costs_what_its_definition_says() {
    // sup over t of a(t) − x·a(t−Δ) and of the other outcome, on a fine grid: a lower bound.
    let fineness = Fineness { spread: 1e-6, cut: 1e-12 };
    for rule in rules() {
        let sensitivity = 0.5;
        let losses = decisions(&rule, sensitivity, 1, fineness, &mut |_, _| true).unwrap();
        for l in [0.0, 0.1, 0.3, 0.45] {
            let x = f64::exp(l);
            let attack = (-4000..4000).map(|k| 0.01 * f64::from(k)).fold(0.0_f64, |most, t| {
                let (p, q) = (accept(&rule, t), accept(&rule, t - sensitivity));
                most.max(p - x * q).max((1.0 - q) - x * (1.0 - p))
            });
            let found = losses.delta(l);
            assert!(found >= attack - 1e-14, "{rule:?} at {l}: {found} below {attack}");
            assert!(found <= attack * 1.05 + 1e-4, "{rule:?} at {l}: {found} far above {attack}");
        }
    }
}

#[test]
fn blocks_cost_little_more_than_one_recursion() {
    let fineness = Fineness { spread: 1e-5, cut: 1e-11 };
    let whole = {
        let all = corners(&Rule::Barker, up_to_grid(0.05), 1e-16).unwrap();
        recursion(&all, 300, 1.0 / 512.0, 2500, &mut |_, _| true).unwrap()
    };
    let blocks = decisions(&Rule::Barker, 0.05, 300, fineness, &mut |_, _| true).unwrap();
    for epsilon in [0.5, 1.0, 2.0] {
        assert!(blocks.delta(epsilon) >= 0.999 * whole.delta(epsilon));
        assert!(blocks.delta(epsilon) <= 1.15 * whole.delta(epsilon));
    }
}
