use super::*;

fn wide() -> Check {
    Check::found("width", Grade::Wide, 4.0, "intervals are 4 times as wide", "collect more records")
}

#[test]
fn the_worst_check_decides_and_gives_the_reasons() {
    let bad = |key| Check::found(key, Grade::NotToBeTrusted, 2.0, format!("{key} is bad"), "run longer");
    let verdict = Verdict::new(vec![Check::passed("ess", 500.0, "enough"), wide(), bad("a"), bad("b")]);
    assert_eq!(verdict.grade, Grade::NotToBeTrusted);
    assert_eq!(verdict.reasons, ["a is bad", "b is bad"]);
    assert_eq!(verdict.remedies, ["run longer"], "each remedy once, and none of a milder check");
    assert_eq!(verdict.to_string(), "Verdict: not to be trusted. A is bad. B is bad. Remedy: Run longer.");
}

#[test]
fn a_good_run_needs_no_words() {
    let verdict = Verdict::new(vec![Check::passed("ess", 500.0, "enough")]);
    assert_eq!(verdict.to_string(), "Verdict: trustworthy");
}

#[test]
fn nothing_looked_at_is_nothing_to_trust() {
    assert_eq!(Verdict::new(Vec::new()).grade, Grade::NotToBeTrusted);
}

#[test]
fn grades_are_words_in_json() {
    let json = serde_json::to_value(Verdict::new(vec![wide()])).unwrap();
    assert_eq!(json["grade"], "wide");
    assert_eq!(json["checks"][0]["value"], 4.0);
}
