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
            summary: summary(&rows, counters, estimate),
            rows,
        }
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
            "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>{0}</title><style>\
             body{{font:14px/1.4 system-ui,sans-serif;margin:2rem;max-width:70rem}}\
             table{{border-collapse:collapse}}td,th{{padding:.1rem .6rem;text-align:right;white-space:nowrap}}\
             td.i,td.s{{text-align:left;font-family:ui-monospace,monospace}}td.s{{color:#777}}\
             .bar{{background:linear-gradient(90deg,#e4572e55 var(--p),transparent var(--p))}}\
             </style><h1>{0}</h1><table>",
            escape(&self.kernel)
        );
        for (name, value) in &self.summary {
            let _ = write!(
                out,
                "<tr><th>{}</th><td class=i>{}</td></tr>",
                escape(name),
                escape(value)
            );
        }
        out.push_str("</table><h2>Instructions</h2><table><tr><th>count<th>%<th>class<th>conflicts<th>address<th>instruction<th>source</tr>");
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
                "<tr><td>{}<td class=bar style=\"--p:{:.0}%\">{:.1}<td>{}<td>{conflicts}<td>{:#x}<td class=i>{}<td class=s>{}</tr>",
                row.count,
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

fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

fn summary(rows: &[Row], counters: &Counters, estimate: &Estimate) -> Vec<(String, String)> {
    let mut list = vec![
        ("workgroups".to_owned(), counters.workgroups.to_string()),
        ("waves".to_owned(), counters.waves.to_string()),
        (
            "instructions".to_owned(),
            counters.instructions().to_string(),
        ),
    ];
    for class in Class::ALL {
        let count: u64 = rows
            .iter()
            .filter(|row| row.class == class)
            .map(|row| row.count)
            .sum();
        if count > 0 {
            list.push((format!("  {}", class.name()), count.to_string()));
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
            list.push((name.to_owned(), value.to_string()));
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
    let bound = format!(
        "{:.3} us, by the {}",
        estimate.seconds * 1e6,
        estimate.bottleneck
    );
    list.push((format!("{} at best", estimate.device), bound));
    list
}
