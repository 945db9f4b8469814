//! An annotated listing of a kernel: how often each instruction ran, where its
//! time goes, which source line it comes from. As text and as one HTML page.

use std::fmt::Write as _;

use crate::counters::{Class, Counters};
use crate::launch::Launch;
use crate::model::Estimate;
use crate::source::SourceLines;

/// One instruction of a listing.
#[derive(Clone, Debug)]
struct Row {
    pc: u64,
    text: String,
    class: Class,
    count: u64,
    conflicts: u64,
    share: f64,
    source: String,
}

/// A listing with what a launch counted.
#[derive(Clone, Debug)]
pub struct Listing {
    kernel: String,
    rows: Vec<Row>,
    summary: Vec<(String, String)>,
}

impl Listing {
    /// Makes the listing of a launch.
    #[must_use]
    pub fn new(launch: &Launch<'_>, counters: &Counters, estimate: &Estimate) -> Self {
        let program = launch.program;
        let lines = SourceLines::read(&launch.loaded.object);
        let all = counters.instructions().max(1) as f64;
        let mut rows: Vec<_> = program
            .steps
            .iter()
            .enumerate()
            .map(|(at, step)| Row {
                pc: step.pc,
                text: step.inst.to_string(),
                class: Class::of(&step.inst),
                count: counters.steps.get(at).copied().unwrap_or(0),
                conflicts: counters.step_conflicts.get(at).copied().unwrap_or(0),
                share: counters.steps.get(at).copied().unwrap_or(0) as f64 / all,
                source: lines.at(step.pc).unwrap_or_default(),
            })
            .collect();
        rows.sort_by_key(|row| row.pc);
        Self {
            kernel: program.kernel.name.clone(),
            summary: summary(launch, &rows, counters, estimate),
            rows,
        }
    }

    /// Part of a whole: shown further in, below what it is part of.
    fn is_part(name: &str) -> bool {
        name.starts_with(' ')
    }

    /// As text.
    #[must_use]
    pub fn text(&self) -> String {
        let mut out = format!("{}\n", self.kernel);
        for (name, value) in &self.summary {
            let _ = writeln!(out, "  {name:<28} {value}");
        }
        let _ = writeln!(
            out,
            "\n{:>12} {:>6} {:>10}  {:<10} instruction",
            "count", "%", "conflicts", "address"
        );
        let mut source = "";
        for row in &self.rows {
            if row.source != source {
                source = &row.source;
                let _ = writeln!(out, "{:>42}; {source}", "");
            }
            let conflicts = if row.conflicts > 0 {
                row.conflicts.to_string()
            } else {
                String::new()
            };
            let percent = format!("{:.1}", row.share * 100.0);
            let _ = writeln!(
                out,
                "{:>12} {percent:>6} {conflicts:>10}  {:<#10x} {}",
                row.count, row.pc, row.text
            );
        }
        out
    }

    /// For programs: what each instruction did.
    #[must_use]
    pub fn json(&self) -> serde_json::Value {
        let row = |row: &Row| {
            serde_json::json!({
                "address": row.pc,
                "instruction": row.text,
                "count": row.count,
                "lds_conflicts": row.conflicts,
            })
        };
        self.rows.iter().map(row).collect()
    }

    /// As one HTML page that needs nothing else.
    #[must_use]
    pub fn html(&self) -> String {
        let mut out = format!(
            "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\">\
             <meta name=\"viewport\" content=\"width=device-width\"><title>{0}</title><style>\
             body{{font:14px/1.4 system-ui,sans-serif;margin:2rem;max-width:70rem}}\
             table{{border-collapse:collapse}}td,th{{padding:.1rem .6rem;text-align:right;white-space:nowrap}}\
             .l{{text-align:left}}.i{{text-align:left;font-family:ui-monospace,monospace}}\
             .s{{color:#777}}.part{{padding-left:2rem;font-weight:normal}}.never{{color:#999}}\
             thead th{{position:sticky;top:0;background:#fff;border-bottom:1px solid #999}}\
             .bar{{background:linear-gradient(90deg,#e4572e55 var(--p),transparent var(--p))}}\
             </style><h1>{0}</h1><table>",
            escape(&self.kernel)
        );
        for (name, value) in &self.summary {
            let class = if Self::is_part(name) { "l part" } else { "l" };
            let _ = write!(
                out,
                "<tr><th class=\"{class}\">{}</th><td>{}</td></tr>",
                escape(name.trim_start()),
                escape(value)
            );
        }
        out.push_str(
            "</table><h2>Instructions</h2><table><thead><tr><th>count\
             <th title=\"of all instructions that ran\">% of all<th class=l>class\
             <th title=\"LDS passes that bank conflicts added\">conflicts<th>address\
             <th class=l>instruction<th class=l>source</tr></thead>",
        );
        let most = self
            .rows
            .iter()
            .map(|row| row.share)
            .fold(0.0, f64::max)
            .max(1e-9);
        for row in &self.rows {
            let conflicts = if row.conflicts > 0 {
                row.conflicts.to_string()
            } else {
                String::new()
            };
            let _ = write!(
                out,
                "<tr{}><td>{}<td class=bar style=\"--p:{:.0}%\">{:.1}<td class=l>{}<td>{conflicts}<td>{:#x}<td class=i>{}<td class=\"i s\">{}</tr>",
                if row.count == 0 { " class=never" } else { "" },
                grouped(row.count),
                row.share / most * 100.0,
                row.share * 100.0,
                row.class.name(),
                row.pc,
                escape(&row.text),
                escape(&row.source)
            );
        }
        out.push_str("</table></html>\n");
        out
    }
}

/// Digits in groups of three.
fn grouped(value: u64) -> String {
    let digits = value.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

fn summary(
    launch: &Launch<'_>,
    rows: &[Row],
    counters: &Counters,
    estimate: &Estimate,
) -> Vec<(String, String)> {
    let sizes = |sizes: [u32; 3]| sizes.map(|size| size.to_string()).join(" x ");
    let mut list = vec![
        (
            "architecture".to_owned(),
            launch.program.arch.name().to_owned(),
        ),
        (
            format!("{} at best", estimate.device),
            format!(
                "{:.3} us, by the {}",
                estimate.seconds * 1e6,
                estimate.bottleneck
            ),
        ),
        ("grid".to_owned(), sizes(launch.grid)),
        ("workgroup".to_owned(), sizes(launch.workgroup)),
        ("workgroups".to_owned(), grouped(counters.workgroups)),
        ("waves".to_owned(), grouped(counters.waves)),
        ("instructions".to_owned(), grouped(counters.instructions())),
    ];
    for class in Class::ALL {
        let count: u64 = rows
            .iter()
            .filter(|row| row.class == class)
            .map(|row| row.count)
            .sum();
        if count > 0 {
            list.push((format!("  {}", class.name()), grouped(count)));
        }
    }
    let bytes = [
        ("matrix operations", counters.matrix_flops),
        ("bytes read from memory", counters.global_read),
        ("bytes written to memory", counters.global_written),
        ("bytes read by scalar loads", counters.scalar_read),
        ("bytes read from LDS", counters.lds_read),
        ("bytes written to LDS", counters.lds_written),
        ("LDS passes", counters.lds_passes),
        ("LDS passes by conflicts", counters.lds_conflicts),
        ("atomics (lanes)", counters.atomics),
    ];
    for (name, value) in bytes {
        if value > 0 {
            list.push((name.to_owned(), grouped(value)));
        }
    }
    list.push((
        "waves a SIMD unit holds".to_owned(),
        estimate.occupancy.to_string(),
    ));
    for (name, seconds) in &estimate.busy {
        list.push((
            format!("{} busy, {}", estimate.device, name),
            format!("{:.3} us", seconds * 1e6),
        ));
    }
    list
}
