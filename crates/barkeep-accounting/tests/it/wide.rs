//! Asks the accountant about everything, over wide ranges of arguments: it answers or refuses, within bounded work.

use barkeep_accounting::{Contract, Delta, Epsilon, Query, Steps};

/// A small generator with a fixed seed: the calls are the same every time.
struct Dice(u64);

impl Dice {
    fn roll(&mut self) -> f64 {
        // SplitMix64.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((word ^ (word >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Uniform in the exponent.
    fn log(&mut self, low: f64, high: f64) -> f64 {
        (low.ln() + self.roll() * (high.ln() - low.ln())).exp()
    }

    fn pick(&mut self, count: u64) -> u64 {
        (self.roll() * count as f64) as u64
    }
}

fn rule(dice: &mut Dice) -> String {
    let inner = if dice.pick(2) == 0 {
        "\"barker\"".to_owned()
    } else {
        format!("{{\"penalty\":{{\"sigma\":{:e}}}}}", dice.log(0.05, 60.0))
    };
    if dice.pick(4) == 0 {
        format!("{{\"lazy\":{{\"keep\":{:e},\"rule\":{inner}}}}}", dice.log(1e-2, 1.0))
    } else {
        inner
    }
}

/// A cost as a contract writes it.
fn cost(dice: &mut Dice) -> String {
    let full = |mechanism: String| (mechanism, "\"full\"".to_owned(), "substitute");
    let (mechanism, sampling, neighbours) = match dice.pick(13) {
        0 => full(format!("{{\"gaussian\":{{\"ratio\":{:e}}}}}", dice.log(1e-2, 1e4))),
        1..=3 => {
            let ratio = dice.log(0.3, 50.0);
            let mechanism = if dice.pick(4) == 0 {
                format!("{{\"laplace\":{{\"ratio\":{ratio:e}}}}}")
            } else {
                format!("{{\"gaussian\":{{\"ratio\":{ratio:e}}}}}")
            };
            let rate = dice.log(1e-6, 1.0);
            if dice.pick(2) == 0 {
                (mechanism, format!("{{\"poisson\":{{\"rate\":{rate:e}}}}}"), "add-remove")
            } else {
                let batch = ((rate * 1e9) as u64).max(1);
                let sampling =
                    format!("{{\"without-replacement\":{{\"batch\":{batch},\"records\":1000000000}}}}");
                (mechanism, sampling, "substitute")
            }
        }
        4 => {
            let (variance, sensitivity) = (dice.log(1e-2, 1e6), 1 + dice.pick(20));
            full(format!(
                "{{\"discrete-gaussian\":{{\"variance\":{variance:e},\"sensitivity\":{sensitivity}}}}}"
            ))
        }
        5 => full(format!("{{\"laplace\":{{\"ratio\":{:e}}}}}", dice.log(1e-2, 1e3))),
        6 => {
            let p = dice.log(1e-10, 1.0);
            let q = (p * dice.log(0.5, 2.0)).min(1.0);
            full(format!("{{\"bernoulli\":{{\"p\":{p:e},\"q\":{q:e}}}}}"))
        }
        7 => {
            let rule = rule(dice);
            full(format!("{{\"decision\":{{\"rule\":{rule},\"sensitivity\":{:e}}}}}", dice.log(1e-4, 3.0)))
        }
        8 => full(format!("{{\"exponential\":{{\"range\":{:e}}}}}", dice.log(1e-3, 5.0))),
        9 => {
            let (ratio, rate, records) =
                (dice.log(0.3, 20.0), dice.log(1e-4, 0.9), dice.log(2.0, 1e7) as u64);
            let most = ((records as f64 * rate * dice.log(0.5, 3.0)) as u64).max(1);
            let neighbours = if dice.pick(2) == 0 { "add-remove" } else { "substitute" };
            let mechanism = format!(
                "{{\"truncated-gaussian\":{{\"ratio\":{ratio:e},\"rate\":{rate:e},\"most\":{most},\"records\":{records}}}}}"
            );
            (mechanism, format!("{{\"poisson\":{{\"rate\":{rate:e}}}}}"), neighbours)
        }
        10 => {
            let records = dice.log(10.0, 1e8) as u64;
            let batch = ((records as f64 * dice.log(1e-4, 1.0)) as u64).max(1);
            let mechanism = format!(
                "{{\"barker-minibatch\":{{\"batch\":{batch},\"records\":{records},\"bound\":\"pld\"}}}}"
            );
            let sampling = format!("{{\"without-replacement\":{{\"batch\":{batch},\"records\":{records}}}}}");
            (mechanism, sampling, "substitute")
        }
        11 => {
            let (scale, sensitivity) = (dice.log(0.1, 1e3), 1 + dice.pick(50));
            full(format!("{{\"discrete-laplace\":{{\"scale\":{scale:e},\"sensitivity\":{sensitivity}}}}}"))
        }
        _ => {
            let (epsilon, delta) = (dice.log(1e-3, 5.0), dice.log(1e-12, 1e-6));
            full(format!("{{\"approximate\":{{\"epsilon\":{epsilon:e},\"delta\":{delta:e}}}}}"))
        }
    };
    format!("{{\"mechanism\":{mechanism},\"sampling\":{sampling},\"neighbours\":\"{neighbours}\"}}")
}

/// One random question; returns what was asked, in words. Panics on an answer that is none.
fn ask(dice: &mut Dice) -> String {
    let text = format!("[[{},1]]", cost(dice));
    let contract: Contract = serde_json::from_str(&text).unwrap();
    let query = Query::new(contract.parts().to_vec()).unwrap();
    let steps = Steps(dice.log(1.0, 1e6) as u64);
    let epsilon = Epsilon::new(dice.log(1e-3, 50.0)).unwrap();
    let delta = Delta::new(dice.log(1e-12, 1e-2)).unwrap();
    let sound = |answer: &barkeep_accounting::Answer, words: &str| {
        let bracket = answer.bracket;
        assert!(bracket.upper >= 0.0, "{words}: {bracket:?}");
        assert!(
            bracket.lower.is_none_or(|lower| (0.0..=bracket.upper).contains(&lower)),
            "{words}: {bracket:?}"
        );
    };
    match dice.pick(3) {
        0 => {
            let words = format!("{text} steps {} delta {}", steps.0, delta.get());
            if let Ok(answer) = query.epsilon(steps, delta) {
                sound(&answer, &words);
            }
            words
        }
        1 => {
            let words = format!("{text} steps {} epsilon {}", steps.0, epsilon.get());
            if let Ok(answer) = query.delta(steps, epsilon) {
                sound(&answer, &words);
                assert!(answer.bracket.upper <= 1.0, "{words}");
            }
            words
        }
        _ => {
            let words = format!("{text} epsilon {} delta {}", epsilon.get(), delta.get());
            let _refused_or_found = query.most(epsilon, delta);
            words
        }
    }
}

#[test]
fn some_questions_are_answered_or_refused() {
    let mut dice = Dice(18);
    for _ in 0..40 {
        ask(&mut dice);
    }
}

/// `cargo test --release -p barkeep-accounting --test it wide -- --ignored`: processor time and memory of every call, on Linux.
#[test]
#[ignore = "minutes; measures processor time"]
fn two_thousand_questions_are_answered_or_refused() {
    /// Nanoseconds this thread has run.
    fn processor() -> u64 {
        let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
        text.split_whitespace().next().and_then(|word| word.parse().ok()).unwrap_or(0)
    }
    let mut dice = Dice(2000);
    let mut slowest = (0, String::new());
    for _ in 0..2000 {
        let start = processor();
        let words = ask(&mut dice);
        let spent = processor() - start;
        if spent > slowest.0 {
            slowest = (spent, words);
        }
    }
    println!("slowest: {:.2} s, {}", slowest.0 as f64 * 1e-9, slowest.1);
    assert!(slowest.0 < 5_000_000_000, "{} s: {}", slowest.0 as f64 * 1e-9, slowest.1);
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes: u64 =
        peak.and_then(|line| line.split_whitespace().next()).and_then(|word| word.parse().ok()).unwrap_or(0);
    println!("peak memory: {} MB", kilobytes / 1024);
    assert!(kilobytes < 300 * 1024, "{kilobytes} kB");
}
