//! Checks what follows from adding the toy mechanism: its price, its bytes, its words, a contract and a certificate's part.

use barkeep_accounting::mechanisms::RandomisedResponse;
use barkeep_accounting::{Contract, Cost, Delta, Epsilon, Mechanism, Neighbours, Query, Sampling, Steps};

#[test]
fn the_toy_mechanism_is_priced_serialised_and_worded() {
    let (epsilon, delta) = (Epsilon::new(0.1).unwrap(), Delta::new(1e-6).unwrap());
    let mechanism = Mechanism::from(RandomisedResponse { epsilon });
    let cost = || Cost::new(mechanism.clone(), Sampling::Full, Neighbours::Substitute).unwrap();

    // A query prices it: one step costs ε, a hundred less than a hundred times that.
    let query = Query::new(vec![(cost(), Steps(1))]).unwrap();
    let one = query.epsilon(Steps(1), Delta::new(1e-12).unwrap()).unwrap().bracket.upper;
    assert!((0.0999..0.1001).contains(&one), "{one}");
    let hundred = query.epsilon(Steps(100), delta).unwrap().bracket.upper;
    assert!(hundred > 1.0 && hundred < 6.0, "{hundred}");
    assert!(query.largest_steps(Epsilon::new(1.0).unwrap(), delta).unwrap().0 >= 10);

    // It composes with others, goes to disk and comes back.
    let contract = Contract::new(vec![(cost(), Steps(3))]).unwrap();
    let text = serde_json::to_string(&contract).unwrap();
    assert!(text.contains("randomised-response"), "{text}");
    let back: Contract = serde_json::from_str(&text).unwrap();
    assert_eq!(back.epsilon(delta).unwrap(), contract.epsilon(delta).unwrap());

    // A certificate says what leaves by these words.
    assert_eq!(Mechanism::all_released([&mechanism]), ["one randomised answer for each question"]);
}
