//! Checks that a search which states less than the bill costs is found out before anything is asked.

use super::*;
use crate::curator::TableBuilder;
use crate::{Error, Plan, Spec};
use std::path::Path;

const SPEC: &str = "[data]\npath = 'x.csv'\nrecords = 20\n[data.columns]\nx = { min = -1, max = 1, invalid = 0 }\n\
                    [model]\nname = 'gaussian'\n[privacy]\nepsilon = 1\ndelta = 1e-3\n\
                    [sampler]\nname = 'barker'\nclip = 0.5\nclip_scale = 'constant'\nproposal_sd = 0.5\nstart = [0]\n";

fn run(plan: &Plan) -> Result<(), Error> {
    let mut table = TableBuilder::new(plan.view().schema().clone(), 20).unwrap();
    for _ in 0..20 {
        table.push_row(&[0.5]).unwrap();
    }
    plan.run(table.finish().unwrap()).map(drop)
}

#[test]
fn a_search_that_states_too_little_is_refused_before_the_first_question() {
    let mut plan = Plan::new(Spec::parse(SPEC, Path::new("")).unwrap()).unwrap();
    assert!(plan.is_searched(), "the search composed all steps that the budget buys");
    run(&plan).unwrap();

    let paid = plan.paid.take().unwrap();
    let Bill::Contract(contract) = paid.bill().clone() else { panic!("steps of one price are a contract") };
    let less = Epsilon::new(0.999 * paid.epsilon().get()).unwrap();
    plan.paid = Some(PricedBill::composed(contract, paid.delta(), less, paid.meaning()));
    let refused = run(&plan).unwrap_err();
    assert!(
        matches!(&refused, Error::Certificate(reason) if reason.starts_with("the bill costs epsilon")),
        "{refused}"
    );
}
