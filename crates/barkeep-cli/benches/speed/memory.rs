//! Measures the most memory the program ever holds while it samples, against the columns themselves.

use crate::setting::Setting;
use crate::start::PROGRAM;
use std::process::{Command, Stdio};
use std::time::Duration;

/// The high-water mark of a process' resident memory in bytes, as Linux reports it.
fn peak(process: u32) -> Option<f64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    Some(line.split_whitespace().nth(1)?.parse::<f64>().ok()? * 1024.0)
}

/// Prints the table.
pub(crate) fn print() {
    println!(
        "Peak memory of `barkeep sample`, reading included, against the columns' n·d·8 bytes. The program itself is the"
    );
    println!("row with 1000 records.");
    println!();
    println!("{:>9} {:>3} {:>12} {:>12} {:>14}", "n", "d", "columns", "peak", "peak - base");
    let mut base = 0.0;
    for (records, dimension) in [(1_000, 4), (1_000_000, 4), (2_000_000, 4), (1_000_000, 10)] {
        let folder = tempfile::tempdir().unwrap();
        let sampler =
            "name = 'barker'\nproposal_sd = 0.001\nclip = 0.002\nclip_scale = 'constant'\nsteps = 20";
        let setting = Setting::gaussian(dimension, records, sampler);
        setting.write_csv(&folder.path().join("records.csv"));
        std::fs::write(folder.path().join("spec.toml"), setting.spec(1.0, "records.csv")).unwrap();
        let mut child = Command::new(PROGRAM)
            .args(["sample", "spec.toml", "--out", "out"])
            .current_dir(folder.path())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut most: f64 = 0.0;
        while child.try_wait().unwrap().is_none() {
            most = most.max(peak(child.id()).unwrap_or(0.0));
            std::thread::sleep(Duration::from_millis(1));
        }
        let columns = (records * dimension * 8) as f64;
        if base == 0.0 {
            base = most - columns;
        }
        let extra = 100.0 * ((most - base) / columns - 1.0);
        println!(
            "{records:>9} {dimension:>3} {:>9.2} MB {:>9.2} MB {:>9.2} MB {extra:>+6.1} %",
            columns * 1e-6,
            most * 1e-6,
            (most - base) * 1e-6
        );
    }
}
