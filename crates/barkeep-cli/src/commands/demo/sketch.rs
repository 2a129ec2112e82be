//! Draws a histogram in one line of text.

/// Columns of the sketch, an odd number, so that the centre has one.
const WIDTH: usize = 49;
const BARS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// The share of draws in each part of [centre − 4·sd, centre + 4·sd], as bars, with | before the centre's.
pub(super) fn histogram(draws: &[f64], centre: f64, sd: f64) -> String {
    let mut counts = [0_usize; WIDTH];
    for draw in draws {
        let place = ((draw - centre) / (8.0 * sd) + 0.5) * WIDTH as f64;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "inside the sketch")]
        if place >= 0.0 && place < WIDTH as f64 {
            counts[place as usize] += 1;
        }
    }
    let most = counts.iter().copied().max().unwrap_or(0).max(1);
    let mut text = String::new();
    for (place, count) in counts.into_iter().enumerate() {
        if place == WIDTH / 2 {
            text.push('|');
        }
        text.push(BARS[(count * (BARS.len() - 1)).div_ceil(most)]);
    }
    text
}

#[cfg(test)]
mod tests;
