//! Says how many bytes records may take: as somebody writes it, or as the machine has them.

/// A number of bytes, such as "4GB"; decimal units, or those of 1024 with an i.
pub(super) fn bytes(text: &str) -> Option<u64> {
    let text = text.trim();
    let split = text.find(|letter: char| letter.is_ascii_alphabetic())?;
    let (number, unit) = text.split_at(split);
    let number: f64 = number.trim().parse().ok()?;
    let units = ["B", "KB", "MB", "GB", "TB", "KIB", "MIB", "GIB", "TIB"];
    let place = units.iter().position(|known| unit.eq_ignore_ascii_case(known))?;
    let unit = if place < 5 { 1e3_f64.powi(place as i32) } else { 1024_f64.powi(place as i32 - 4) };
    let bytes = number * unit;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "above 0 and below 2^63")]
    (bytes >= 1.0 && bytes < 2_f64.powi(63)).then_some(bytes as u64)
}

/// The machine's memory in bytes, or what its control group allows, where the system says so: Linux does.
pub(super) fn machine_memory() -> Option<u64> {
    let facts = std::fs::read_to_string("/proc/meminfo").ok()?;
    let total = facts.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let total: u64 = total.trim().strip_suffix("kB")?.trim().parse().ok()?;
    let allowed = std::fs::read_to_string("/sys/fs/cgroup/memory.max").ok();
    let allowed = allowed.and_then(|text| text.trim().parse().ok()).unwrap_or(u64::MAX);
    Some(allowed.min(total.saturating_mul(1024)))
}
