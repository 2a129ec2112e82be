//! Replaces an ideal coin by one as far from it as allowed, and looks for an event that moves by more than b.

/// The worst coin allowed moves the likeliest event by e^r and b, never by 2b; and no smaller number than b will do.
#[test]
fn a_replaced_coin_costs_b_once() {
    let grid = |steps: u32| (0..=steps).map(move |i| f64::from(i) / f64::from(steps));
    for (r, b) in [(0.0_f64, 1e-3_f64), (1e-3, 1e-4), (0.1, 0.05)] {
        let mut most = f64::MIN;
        for p in grid(40) {
            // Both outcomes may be too likely by e^r and b, and no more.
            let lowest = (1.0 - (r.exp() * (1.0 - p) + b)).max(0.0);
            let highest = (r.exp() * p + b).min(1.0);
            for flipped in [lowest, highest] {
                for (x, y) in grid(20).flat_map(|x| grid(20).map(move |y| (x, y))) {
                    let ideal = p * x + (1.0 - p) * y;
                    let moved = flipped * x + (1.0 - flipped) * y - r.exp() * ideal;
                    assert!(moved <= b + 1e-15, "{p} {x} {y}: {moved}");
                    most = most.max(moved);
                }
            }
        }
        assert!(most > b * (1.0 - 1e-9), "{most}");
    }
}
