//! Finds the Rényi order that proves the most; any order is valid, so a missed optimum costs tightness, never truth.
//!
//! (α−1)·ε(α) is convex in α for every mechanism, hence the δ of an order is log-convex and the ε quasi-convex in it: one
//! valley, found by a coarse scan and refined inside it.

use crate::Order;

/// Coarse steps of ln(α−1).
const COARSE: f64 = 0.75;

/// The least value over real orders with α−1 from 1e-12 to 1e15; not-a-number counts as infinite.
pub(crate) fn smallest_over_real_orders(mut value: impl FnMut(Order) -> f64) -> f64 {
    let (start, end) = (-27.7_f64, 34.6_f64);
    let count = ((end - start) / COARSE) as i32;
    let mut at = |t: f64| Order::new(1.0 + libm::exp(t)).map_or(f64::INFINITY, |order| finite(value(order)));
    let mut best = (f64::INFINITY, start);
    for step in 0..=count {
        let t = start + COARSE * f64::from(step);
        let here = at(t);
        if here < best.0 {
            best = (here, t);
        }
    }
    // Golden-section steps: 0.618²⁸ of the valley is 1e-6, and its square the loss at the bottom.
    const GOLDEN: f64 = 0.618_033_988_749_894_9;
    let (mut low, mut high) = (best.1 - COARSE, best.1 + COARSE);
    let mut least = best.0;
    let (mut left, mut right) = (high - GOLDEN * (high - low), low + GOLDEN * (high - low));
    let (mut at_left, mut at_right) = (at(left), at(right));
    for _ in 0..28 {
        least = least.min(at_left).min(at_right);
        if at_left <= at_right {
            high = right;
            (right, at_right) = (left, at_left);
            left = high - GOLDEN * (high - low);
            at_left = at(left);
        } else {
            low = left;
            (left, at_left) = (right, at_right);
            right = low + GOLDEN * (high - low);
            at_right = at(right);
        }
    }
    least
}

/// The least value over whole orders from 2 to `largest`; not-a-number counts as infinite.
pub(crate) fn smallest_over_whole_orders(largest: u32, mut value: impl FnMut(u32) -> f64) -> f64 {
    let mut orders = Vec::new();
    let mut order = 2_u32;
    while order <= largest {
        orders.push(order);
        order = order.max(order + order / 8) + 1;
    }
    let values: Vec<f64> = orders.iter().map(|&order| finite(value(order))).collect();
    let best = (0..values.len()).min_by(|&a, &b| values[a].total_cmp(&values[b]));
    let Some(best) = best else { return f64::INFINITY };
    let mut least = values[best];
    let mut low = orders[best.saturating_sub(1)];
    let mut high = orders.get(best + 1).copied().unwrap_or(largest);
    while high - low > 2 {
        let middle = low + (high - low) / 2;
        let (here, next) = (finite(value(middle)), finite(value(middle + 1)));
        least = least.min(here).min(next);
        if here <= next {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    (low..=high).fold(least, |least, order| least.min(finite(value(order))))
}

fn finite(value: f64) -> f64 {
    if value.is_nan() { f64::INFINITY } else { value }
}

#[cfg(test)]
mod tests;
