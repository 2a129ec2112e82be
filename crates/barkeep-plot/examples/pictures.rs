//! Draws the pictures of the README; `docs/pictures/make` calls it.
//!
//! `pictures gate`, `pictures samplers`, `pictures demo REPORT < TEXT`, `pictures accuracy RESULTS-FOLDER`: each prints one SVG.

#![expect(clippy::print_stdout, reason = "an example prints")]

use barkeep_plot::{Axis, Figure, Mark, Panel, Shape, Style};
use std::fmt::Write;
use std::io::Read;
use std::path::Path;

type Failure = Box<dyn std::error::Error>;

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let svg = match arguments.as_slice() {
        ["gate"] => gate(),
        ["samplers"] => samplers(),
        ["demo", report] => {
            let mut text = String::new();
            std::io::stdin().read_to_string(&mut text)?;
            demo(&text, &std::fs::read_to_string(report)?)?
        }
        ["accuracy", folder] => accuracy(Path::new(folder))?,
        _ => return Err("pictures gate | samplers | demo REPORT | accuracy FOLDER".into()),
    };
    print!("{svg}");
    Ok(())
}

fn escaped(words: &str) -> String {
    words.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// A drawing of boxes and arrows on a white ground.
struct Sheet(String);

impl Sheet {
    fn new(width: f64, height: f64, alt: &str) -> Self {
        Self(format!(
            "<svg xmlns='http://www.w3.org/2000/svg' width='{width}' height='{height}' viewBox='0 0 {width} {height}' role='img' \
             font-family='DejaVu Sans, Helvetica, sans-serif'>\n<title>{}</title>\n<defs><marker id='tip' viewBox='0 0 8 8' refX='7' \
             refY='4' markerWidth='8' markerHeight='8' orient='auto'><path d='M0 0L8 4L0 8z' fill='#333'/></marker></defs>\n\
             <rect width='100%' height='100%' rx='8' fill='white'/>\n",
            escaped(alt)
        ))
    }

    /// A box with a bold first line.
    fn boxed(&mut self, (x, y): (f64, f64), (width, height): (f64, f64), fill: &str, lines: &[&str]) {
        let _ = writeln!(
            self.0,
            "<rect x='{x}' y='{y}' width='{width}' height='{height}' rx='8' fill='{fill}' stroke='#333'/>"
        );
        let top = y + 0.5 * height - 9.0 * (lines.len() as f64 - 1.0) + 4.5;
        for (number, line) in lines.iter().enumerate() {
            let weight = if number == 0 { " font-weight='bold'" } else { "" };
            self.say((x + 0.5 * width, top + 18.0 * number as f64), "middle", weight, line);
        }
    }

    fn say(&mut self, (x, y): (f64, f64), anchor: &str, weight: &str, line: &str) {
        let _ = writeln!(
            self.0,
            "<text x='{x}' y='{y}' font-size='13' text-anchor='{anchor}'{weight}>{}</text>",
            escaped(line)
        );
    }

    fn arrow(&mut self, from: (f64, f64), to: (f64, f64)) {
        let _ = writeln!(
            self.0,
            "<path d='M{} {}L{} {}' stroke='#333' stroke-width='1.5' fill='none' marker-end='url(#tip)'/>",
            from.0, from.1, to.0, to.1
        );
    }

    fn done(self) -> String {
        self.0 + "</svg>\n"
    }
}

const SECRET: &str = "#f7d9c4";
const GUARDED: &str = "#fdf3c8";
const PUBLIC: &str = "#d8ecf7";

/// Records on one side, samplers on the other, and one gate between them.
fn gate() -> String {
    let mut sheet = Sheet::new(
        820.0,
        250.0,
        "Records stay behind a gate. A sampler asks; the gate charges the budget, adds up integers, adds noise and answers.",
    );
    sheet.boxed((20.0, 60.0), (150.0, 110.0), SECRET, &["private records", "never leave", "this side"]);
    sheet.boxed(
        (270.0, 40.0),
        (220.0, 150.0),
        GUARDED,
        &[
            "the gate",
            "charges the budget (ε, δ)",
            "bounds each record's part",
            "adds up integers",
            "adds exact noise",
        ],
    );
    sheet.boxed((610.0, 60.0), (190.0, 110.0), PUBLIC, &["sampler", "asks, and sees", "answers only"]);
    sheet.arrow((170.0, 115.0), (268.0, 115.0));
    sheet.say((219.0, 106.0), "middle", "", "read");
    sheet.arrow((610.0, 90.0), (492.0, 90.0));
    sheet.say((551.0, 81.0), "middle", "", "question");
    sheet.arrow((490.0, 145.0), (608.0, 145.0));
    sheet.say((551.0, 164.0), "middle", "", "noisy answer");
    sheet.arrow((705.0, 170.0), (705.0, 205.0));
    sheet.say((800.0, 225.0), "end", " font-weight='bold'", "draws, verdict, report, certificate");
    sheet.say((380.0, 215.0), "middle", "", "empty budget: no answer");
    sheet.done()
}

/// What `barkeep` chooses when nobody names a sampler, and when to name one.
fn samplers() -> String {
    let mut sheet = Sheet::new(
        820.0,
        330.0,
        "Leave the sampler out: barkeep chooses noise-aware, or Langevin dynamics where very many records pay for them.",
    );
    sheet.boxed((300.0, 15.0), (220.0, 50.0), "white", &["What do you have?"]);
    let columns = [
        (
            15.0,
            ["a regression", "or a model by name"],
            [
                "no [sampler]",
                "barkeep chooses noise-aware,",
                "or langevin where very many",
                "records pay for it",
            ],
        ),
        (
            285.0,
            ["your own density", "as text or in Rust"],
            ["no [sampler]", "langevin: gradients with noise,", "any number of parameters", ""],
        ),
        (
            555.0,
            ["few parameters, odd shape", "or a paper to repeat"],
            ["barker", "one private bit a step", "penalty, dp-hmc, sgld, dpvi, …", "as published"],
        ),
    ];
    for (x, case, answer) in columns {
        let middle = x + 125.0;
        sheet.arrow((410.0, 65.0), (middle, 108.0));
        sheet.boxed((x, 110.0), (250.0, 60.0), "#f2f2f2", &case);
        sheet.arrow((middle, 170.0), (middle, 203.0));
        sheet.boxed((x, 205.0), (250.0, 105.0), PUBLIC, &answer);
    }
    sheet.done()
}

/// Text as a terminal shows it, notes (`#`) in another colour, and below it two pictures of the report.
fn demo(text: &str, report: &str) -> Result<String, Failure> {
    const LINE: f64 = 17.0;
    const PAGE: f64 = 278.0;
    let lines: Vec<&str> = text.lines().collect();
    let longest = lines.iter().map(|line| line.chars().count()).max().unwrap_or(0);
    let (width, words) = (7.9 * longest as f64 + 40.0, LINE * lines.len() as f64 + 34.0);
    let height = words + PAGE + 14.0;
    let mut out = format!(
        "<svg xmlns='http://www.w3.org/2000/svg' width='{width:.0}' height='{height:.0}' viewBox='0 0 {width:.0} {height:.0}' role='img' \
         font-family='DejaVu Sans Mono, Menlo, Consolas, monospace' font-size='13'>\n<title>{}</title>\n\
         <rect width='100%' height='100%' rx='8' fill='#1b1f24'/>\n",
        escaped(lines.first().copied().unwrap_or_default())
    );
    for (number, line) in lines.iter().enumerate() {
        let colour = if line.trim_start().starts_with('#') { "#f2cc60" } else { "#e6edf3" };
        let _ = writeln!(
            out,
            "<text x='20' y='{:.0}' fill='{colour}' xml:space='preserve'>{}</text>",
            30.0 + LINE * number as f64,
            escaped(line)
        );
    }
    let (found, learned) = (picture(report, "forest-t")?, picture(report, "prior0-t")?);
    let style = report
        .split("<style>")
        .nth(1)
        .and_then(|rest| rest.split("</style>").next())
        .ok_or("a report without its style")?;
    let named = |part: &&str| part.starts_with("--") && part.contains(':');
    let colours: Vec<&str> =
        style.split('}').next().unwrap_or_default().split([';', '{']).map(str::trim).filter(named).collect();
    let _ = writeln!(
        out,
        "<g transform='translate(14 {words:.0})' font-family='DejaVu Sans, Helvetica, sans-serif' style='{}' color='#1c2127' fill='#1c2127'>\n\
         <rect width='{:.0}' height='{PAGE}' rx='6' fill='white'/>\n<g font-weight='bold'>\n\
         <text x='16' y='26'>report.html: what was found</text>\n<text x='540' y='26'>and what the records added</text></g>\n\
         <g transform='translate(4 38)'>{found}</g>\n<g transform='translate(526 34)'>{learned}</g></g>",
        escaped(&colours.join(";")),
        width - 28.0
    );
    Ok(out + "</svg>\n")
}

/// The picture of a report with this label.
fn picture<'a>(report: &'a str, label: &str) -> Result<&'a str, Failure> {
    let is_it = |part: &&str| part.split('>').next().is_some_and(|head| head.contains(label));
    let rest = report.match_indices("<svg").map(|(place, _)| &report[place..]).find(is_it);
    let rest = rest.ok_or_else(|| format!("a report without its picture {label}"))?;
    let end = rest.find("</svg>").ok_or("a picture without its end")?;
    Ok(&rest[..end + "</svg>".len()])
}

/// Rows of a table of results, cell by cell.
fn rows(path: &Path) -> Result<Vec<Vec<String>>, Failure> {
    let text = std::fs::read_to_string(path)?;
    let cells = |line: &str| {
        let (mut cells, mut cell, mut quoted) = (Vec::new(), String::new(), false);
        for letter in line.chars() {
            match letter {
                '"' => quoted = !quoted,
                ',' if !quoted => cells.push(std::mem::take(&mut cell)),
                _ => cell.push(letter),
            }
        }
        cells.push(cell);
        cells
    };
    Ok(text.lines().skip(1).map(cells).collect())
}

/// The number a cell begins with, after some separators.
fn number(cell: &str, after: usize) -> Result<f64, Failure> {
    let part = cell.split(" / ").nth(after).and_then(|part| part.split_whitespace().next());
    Ok(part.ok_or("a cell without its number")?.parse()?)
}

/// Error and width on records at ε = 1, and the distance to exact posteriors beside the best published one.
fn accuracy(folder: &Path) -> Result<String, Failure> {
    let real = rows(&folder.join("real-data.csv"))?;
    let real: Vec<&Vec<String>> = real.iter().filter(|row| row[0].contains("ε = 1,")).collect();
    let names = real.iter().map(|row| row[0].split(':').next().unwrap_or_default().to_owned());
    let mut records = Panel::new(
        "real flights and four look-alikes, ε = 1",
        Axis::log("error of means, in posterior sd; width, in widths without privacy")
            .at(&[0.1, 0.3, 1.0, 3.0, 10.0])
            .from(0.1, 10.0),
        Axis::new("").names(names),
    );
    for (label, colour, after) in [("median error", 0, 0), ("width", 1, 1)] {
        let points: Result<Vec<(f64, f64)>, Failure> = real
            .iter()
            .enumerate()
            .map(|(place, row)| Ok((number(&row[2], after)?, -(place as f64))))
            .collect();
        records.marks.push(Mark::Line { points: points?, style: Style::cloud(label, colour, 4.0, 1.0) });
    }
    let papers = rows(&folder.join("frontier.csv"))?;
    let models: Vec<&Vec<String>> = papers.iter().filter(|row| row[0].ends_with("ε = 1")).collect();
    let names = models.iter().map(|row| row[0].split(',').next().unwrap_or_default().to_owned());
    let mut thesis = Panel::new(
        "the thesis' models, ε = 1",
        Axis::log("distance (MMD) to the exact posterior").at(&[0.01, 0.03, 0.1, 0.3, 1.0]).from(0.01, 1.0),
        Axis::new("").names(names),
    );
    for (style, column) in [
        (Style { width: 0.0, ..Style::published("best published", 1) }, 1),
        (Style { width: 0.0, ..Style::points("exact draws", 9, Shape::Square) }, 2),
        (Style::cloud("barkeep", 2, 4.0, 1.0), 3),
    ] {
        let points: Result<Vec<(f64, f64)>, Failure> = models
            .iter()
            .enumerate()
            .map(|(place, row)| Ok((number(&row[column], 0)?, -(place as f64))))
            .collect();
        thesis.marks.push(Mark::Line { points: points?, style });
    }
    let mut figure = Figure::new("How far off privacy puts it", 2, vec![records, thesis]);
    figure.size = (470.0, 300.0);
    Ok(figure.svg())
}
