//! Checks what is a budget.

use super::*;

fn parse(text: &str) -> Result<Privacy, String> {
    Privacy::parse(&text.parse().unwrap()).map_err(|error| error.to_string())
}

#[test]
fn reads_a_budget_or_none() {
    let budget = parse("epsilon = 1\ndelta = 1e-6").unwrap();
    let Privacy::Budget { epsilon, delta, neighbours } = budget else { panic!() };
    assert_eq!((epsilon.get(), delta.get(), neighbours), (1.0, 1e-6, Neighbours::Substitute));
    assert_eq!(parse("private = false").unwrap(), Privacy::NotPrivate);
}

#[test]
fn refuses_what_is_no_budget() {
    for (text, expected) in [
        ("delta = 0.1", "`privacy.epsilon`: is required"),
        ("epsilon = 1", "`privacy.delta`: is required"),
        ("epsilon = 0\ndelta = 0.1", "`privacy.epsilon`: must be a finite number above 0"),
        ("epsilon = -2\ndelta = 0.1", "`privacy.epsilon`"),
        ("epsilon = inf\ndelta = 0.1", "`privacy.epsilon`"),
        ("epsilon = nan\ndelta = 0.1", "`privacy.epsilon`"),
        ("epsilon = 1\ndelta = 0", "`privacy.delta`: must be strictly between 0 and 1"),
        ("epsilon = 1\ndelta = 1", "`privacy.delta`"),
        ("epsilon = 1\ndelta = nan", "`privacy.delta`"),
        ("epsilon = 1\ndelta = 0.1\nneighbours = 'swap'", "`privacy.neighbours`: must be one of"),
        ("private = false\nepsilon = 1", "`privacy.epsilon`: has no meaning"),
        ("epsilonn = 1", "did you mean `epsilon`?"),
    ] {
        let error = parse(text).unwrap_err();
        assert!(error.contains(expected), "{text} gave {error}");
    }
}
