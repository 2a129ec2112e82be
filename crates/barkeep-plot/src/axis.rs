//! Places numbers along an axis and chooses its ticks.

/// How an axis is divided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    /// Equal steps are equal differences.
    Linear,
    /// Equal steps are equal factors; what is not above 0 is not shown.
    Logarithmic,
}

/// One axis.
#[derive(Debug, Clone, PartialEq)]
pub struct Axis {
    /// What it measures, with its unit.
    pub label: String,
    /// How it is divided.
    pub scale: Scale,
    /// Its ends; by default those of the data.
    pub range: Option<(f64, f64)>,
    /// Where ticks stand and what they say; chosen by default.
    pub ticks: Vec<(f64, String)>,
    /// Whether ticks are names, which need more room than numbers.
    named: bool,
}

impl Axis {
    /// A linear axis.
    #[must_use]
    pub fn new(label: impl Into<String>) -> Self {
        Self { label: label.into(), scale: Scale::Linear, range: None, ticks: Vec::new(), named: false }
    }

    /// A logarithmic axis.
    #[must_use]
    pub fn log(label: impl Into<String>) -> Self {
        Self { scale: Scale::Logarithmic, ..Self::new(label) }
    }

    /// With given ends.
    #[must_use]
    pub fn from(mut self, low: f64, high: f64) -> Self {
        self.range = Some((low, high));
        self
    }

    /// With a tick for each of these numbers.
    #[must_use]
    pub fn at(mut self, numbers: &[f64]) -> Self {
        self.ticks = numbers.iter().map(|&number| (number, spoken(number))).collect();
        self
    }

    /// With a tick for each of these names, at 0, 1, 2, …, the first at the top.
    #[must_use]
    pub fn names(mut self, names: impl IntoIterator<Item = String>) -> Self {
        self.ticks = names.into_iter().enumerate().map(|(place, name)| (-(place as f64), name)).collect();
        self.range = Some((0.4 - self.ticks.len() as f64, 0.6));
        self.named = true;
        self
    }

    /// The characters of the longest name along it; 0 where there are numbers.
    pub(crate) fn longest_name(&self) -> usize {
        let lengths = self.ticks.iter().map(|(_, label)| label.chars().count());
        lengths.filter(|_| self.named).max().unwrap_or(0)
    }

    /// Fixes the ends to given ones or to the data's with a margin.
    pub(crate) fn fitted(&self, data: impl Iterator<Item = f64>) -> Fitted<'_> {
        let log = self.scale == Scale::Logarithmic;
        let place = |x: f64| if log { x.log10() } else { x };
        let (low, high) = match self.range {
            Some((low, high)) => (place(low), place(high)),
            None => {
                let shown = data.filter(|x| x.is_finite() && (!log || *x > 0.0)).map(place);
                let ends = shown
                    .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(x), high.max(x)));
                match ends {
                    (low, high) if low < high => (low - 0.05 * (high - low), high + 0.05 * (high - low)),
                    (low, _) if low.is_finite() => (low - 0.5, low + 0.5),
                    _ => (0.0, 1.0),
                }
            }
        };
        Fitted { axis: self, low, high }
    }
}

/// An axis with its ends, in the units of its scale.
pub(crate) struct Fitted<'a> {
    axis: &'a Axis,
    low: f64,
    high: f64,
}

impl Fitted<'_> {
    /// Whether ticks are names.
    pub(crate) fn is_named(&self) -> bool {
        self.axis.named
    }

    /// Where a number lies, 0 at the lower and 1 at the upper end; nothing for what the scale cannot show.
    pub(crate) fn place(&self, x: f64) -> Option<f64> {
        let x = if self.axis.scale == Scale::Logarithmic { x.log10() } else { x };
        let share = (x - self.low) / (self.high - self.low);
        share.is_finite().then_some(share)
    }

    /// Ticks within the ends: place and label.
    pub(crate) fn ticks(&self) -> Vec<(f64, String)> {
        let within = |share: &f64| (-1e-9..=1.0 + 1e-9).contains(share);
        if !self.axis.ticks.is_empty() {
            let placed =
                self.axis.ticks.iter().filter_map(|(x, label)| Some((self.place(*x)?, label.clone())));
            return placed.filter(|(share, _)| within(share)).collect();
        }
        let numbers = match self.axis.scale {
            Scale::Linear => steps(self.low, self.high),
            Scale::Logarithmic => decades(self.low, self.high),
        };
        let placed = numbers.into_iter().filter_map(|x| Some((self.place(x)?, spoken(x))));
        placed.filter(|(share, _)| within(share)).collect()
    }
}

/// Multiples of 1, 2 or 5 times a power of ten, four to seven of them.
fn steps(low: f64, high: f64) -> Vec<f64> {
    let rough = (high - low) / 5.0;
    let power = 10_f64.powf(rough.log10().floor());
    let step =
        [1.0, 2.0, 5.0, 10.0].into_iter().map(|x| x * power).find(|step| *step >= rough).unwrap_or(rough);
    // An axis without width, or so far from 0 that its steps are lost in rounding, has no ticks.
    if !(step > 0.0 && (low / step).abs() < 1e15 && (high / step).abs() < 1e15) {
        return Vec::new();
    }
    let first = (low / step).ceil() as i64;
    // Rounded again, for a sum of steps is not the number people write.
    (first..).take(40).map(|k| (k as f64 * step * 1e12).round() / 1e12).take_while(|x| *x <= high).collect()
}

/// Powers of ten; in less than two decades also their doubles and fives.
fn decades(low: f64, high: f64) -> Vec<f64> {
    let every = (((high - low) / 6.0).ceil() as i32).max(1);
    let powers = (low.floor() as i32..=high.ceil() as i32).filter(|power| power.rem_euclid(every) == 0);
    let within: &[f64] = if high - low < 2.0 { &[1.0, 2.0, 5.0] } else { &[1.0] };
    powers.flat_map(|power| within.iter().map(move |factor| factor * 10_f64.powi(power))).collect()
}

/// A number as people write it, with a power of ten where it would need too many digits.
#[must_use]
pub fn spoken(x: f64) -> String {
    let size = x.abs();
    if x != 0.0 && !(1e-3..1e5).contains(&size) {
        let power = size.log10().floor();
        let lead = x / 10_f64.powf(power);
        let digits: String = format!("{power:.0}").chars().map(raised).collect();
        return match (lead - 1.0).abs() < 1e-9 {
            true => format!("10{digits}"),
            false => format!("{}·10{digits}", (lead * 100.0).round() / 100.0),
        };
    }
    format!("{}", (x * 1e6).round() / 1e6).replace('-', "−")
}

fn raised(digit: char) -> char {
    match digit {
        '-' => '⁻',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        other => other.to_digit(10).and_then(|d| char::from_u32(0x2070 + d)).unwrap_or(other),
    }
}

#[cfg(test)]
mod tests;
