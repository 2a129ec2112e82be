//! Checks that faults of a `[model]` section are named.

use super::*;

fn error(text: &str, columns: usize) -> String {
    let schema = Schema::unbounded(names(columns)).unwrap();
    build(&text.parse().unwrap(), &schema).err().unwrap().to_string()
}

fn names(columns: usize) -> Vec<String> {
    (1..=columns).map(|number| format!("x{number}")).collect()
}

#[test]
fn faults_are_named() {
    assert!(error("name = 'gaussian'", 1001).contains("reads 1000 columns at most"));
    assert!(error("", 1).contains("`model.name`: is required"));
    assert!(error("name = 'gausian'", 1).contains("did you mean `gaussian`?"));
    assert!(error("name = 'gaussian'\ntau = 1", 1).contains("`model.tau`: unknown key"));
    assert!(error("name = 'gaussian'\ncovariance = [1, 2, 3]", 2).contains("must hold 2 numbers"));
    assert!(error("name = 'gaussian'\ncovariance = [[1, 2], [3]]", 2).contains("2 rows of 2"));
    assert!(error("name = 'gaussian'\ncovariance = [[1, 2], [2, 1]]", 2).contains("`model.covariance`"));
}
