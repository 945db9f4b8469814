//! The page: what is shown, in which order.

use std::fmt::Write;

use serde_json::{Map, Value};

use super::chart::{Chart, Series, Style};
use super::format::{byte_unit, bytes, escape, grouped};
use super::points::smooth;
use super::run::Run;
use super::summary::tiles;

/// The whole page.
pub(super) fn render(run: &Run) -> String {
    let mut body = String::new();
    header(&mut body, run);
    tiles(&mut body, run);
    let data = charts(&mut body, run);
    samples(&mut body, run);
    checkpoints(&mut body, run);
    settings(&mut body, run);
    let _ = write!(
        body,
        "<footer>Cairn {} · read from <code>{}</code></footer>",
        env!("CARGO_PKG_VERSION"),
        escape(&run.dir.display().to_string())
    );
    // In a script element only `<` could end the data early.
    let data = Value::Object(data).to_string().replace('<', "\\u003c");
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<title>{title}</title>\n\
         <style>{chart_css}{page_css}</style>\n</head>\n<body>\n<main>\n{body}\n</main>\n\
         <script type=\"application/json\" id=\"data\">{data}</script>\n<script>{script}</script>\n</body>\n</html>\n",
        title = escape(&run.name),
        chart_css = include_str!("chart.css"),
        page_css = include_str!("page.css"),
        script = include_str!("page.js"),
    )
}

/// Training loss, smoothed and as measured, and held-out loss.
pub(super) fn loss_chart(run: &Run) -> Chart {
    let mut chart = measured(run, "Loss", "nats per token", "loss", 900.0, 330.0);
    let validation = Series {
        name: "validation".into(),
        style: Style::Second,
        points: run.points("val_loss"),
    };
    chart.series.push(validation);
    // The first steps would take most of a linear axis.
    chart.log_above = 3.5;
    chart
}

/// A chart of one key with a smoothed line over it when there is enough to smooth.
fn measured(run: &Run, title: &str, unit: &str, key: &str, width: f64, height: f64) -> Chart {
    let points = run.points(key);
    let window = points.len() / 40;
    let line = |name: String, style, points| Series {
        name,
        style,
        points,
    };
    let series = if window < 2 {
        vec![line("training".into(), Style::Main, points)]
    } else {
        let smoothed = smooth(&points, window);
        vec![
            line("per step".into(), Style::Faint, points),
            line(
                format!("mean of {}", grouped(window as u64)),
                Style::Main,
                smoothed,
            ),
        ]
    };
    Chart {
        title: title.into(),
        unit: unit.into(),
        series,
        from_zero: false,
        log_above: 40.0,
        width,
        height,
    }
}

fn header(out: &mut String, run: &Run) {
    let mut about = run.owner.clone();
    about.extend(run.model.clone());
    about.extend(run.setting("precision").map(str::to_owned));
    let about: Vec<String> = about.iter().map(|part| escape(part)).collect();
    let _ = write!(
        out,
        "<header><h1>{}</h1><p>{}</p></header>",
        escape(&run.name),
        about.join(" · ")
    );
    if run.damaged_lines > 0 {
        let _ = write!(
            out,
            "<p class=\"warning\">{} damaged line{} in metrics.jsonl could not be read.</p>",
            run.damaged_lines,
            if run.damaged_lines == 1 { "" } else { "s" }
        );
    }
    let bad = run
        .points("loss")
        .iter()
        .find(|(_, loss)| !loss.is_finite())
        .map(|(step, _)| *step);
    if let Some(step) = bad {
        let _ = write!(
            out,
            "<p class=\"warning\">The loss is not a finite number at step {step}.</p>"
        );
    }
}

/// Draws the charts and gives the data their script needs, by element id.
fn charts(out: &mut String, run: &Run) -> Map<String, Value> {
    let (width, height) = (560.0, 270.0);
    let mut memory = measured(run, "Memory", "", "mem_bytes", width, height);
    // Memory is not noise: its line is the measurement.
    memory.series.retain(|series| series.style != Style::Faint);
    let peak = run
        .points("mem_bytes")
        .iter()
        .map(|(_, v)| *v)
        .fold(0.0, f64::max);
    let (unit_bytes, unit) = byte_unit(peak);
    memory.series = vec![Series {
        name: "peak so far".into(),
        style: Style::Main,
        points: run
            .points("mem_bytes")
            .into_iter()
            .map(|(step, v)| (step, v / unit_bytes))
            .collect(),
    }];
    let all = [
        ("loss", loss_chart(run)),
        (
            "lr",
            Chart {
                series: vec![Series {
                    name: "learning rate".into(),
                    style: Style::Main,
                    points: run.points("lr"),
                }],
                from_zero: true,
                ..measured(run, "Learning rate", "", "lr", width, height)
            },
        ),
        (
            "grad-norm",
            measured(
                run,
                "Gradient norm",
                "before clipping",
                "grad_norm",
                width,
                height,
            ),
        ),
        (
            "throughput",
            Chart {
                from_zero: true,
                ..measured(
                    run,
                    "Throughput",
                    "tokens per second",
                    "tokens_per_s",
                    width,
                    height,
                )
            },
        ),
        (
            "memory",
            Chart {
                unit: unit.into(),
                from_zero: true,
                ..memory
            },
        ),
    ];
    let mut data = Map::new();
    out.push_str("<section class=\"charts\">");
    for (id, chart) in all.iter().filter(|(_, chart)| !chart.is_empty()) {
        figure(out, id, chart);
        data.insert((*id).to_owned(), chart.data());
    }
    out.push_str("</section>");
    data
}

fn figure(out: &mut String, id: &str, chart: &Chart) {
    let _ = write!(
        out,
        "<figure id=\"{id}\"><figcaption><h2>{} <small>{}</small></h2><ul class=\"legend\">",
        escape(&chart.title),
        escape(&chart.unit_text())
    );
    let legend = chart.legend();
    for (name, class) in legend.iter().filter(|_| legend.len() > 1) {
        let _ = write!(out, "<li><i class=\"{class}\"></i>{}</li>", escape(name));
    }
    let _ = write!(
        out,
        "</ul></figcaption><div class=\"plot\">{}</div></figure>",
        chart.svg()
    );
}

fn samples(out: &mut String, run: &Run) {
    let Some((last, earlier)) = run.samples.split_last() else {
        return;
    };
    let block = |out: &mut String, sample: &crate::metrics::Sample| {
        let _ = write!(
            out,
            "<pre><b>{}</b>{}</pre>",
            escape(&sample.prompt),
            escape(&sample.text)
        );
    };
    let _ = write!(
        out,
        "<section><h2>Sample <small>after step {}; the prompt is bold</small></h2>",
        grouped(last.step)
    );
    block(out, last);
    if !earlier.is_empty() {
        let _ = write!(
            out,
            "<details><summary>Earlier samples ({})</summary>",
            earlier.len()
        );
        for sample in earlier.iter().rev() {
            let _ = write!(out, "<h3>After step {}</h3>", grouped(sample.step));
            block(out, sample);
        }
        out.push_str("</details>");
    }
    out.push_str("</section>");
}

fn checkpoints(out: &mut String, run: &Run) {
    if run.checkpoints.is_empty() {
        return;
    }
    out.push_str(
        "<section><h2>Checkpoints</h2><div class=\"scroll\"><table><thead><tr><th class=\"number\">Step</th>\
         <th>Folder</th><th class=\"number\">Tensors</th><th class=\"number\">Size</th><th>State</th></tr></thead><tbody>",
    );
    for checkpoint in run.checkpoints.iter().rev() {
        let folder = checkpoint
            .path
            .strip_prefix(&run.dir)
            .unwrap_or(&checkpoint.path);
        let (class, state) = match &checkpoint.problem {
            None => ("good", "complete"),
            Some(problem) => ("bad", problem.as_str()),
        };
        let _ = write!(
            out,
            "<tr><td class=\"number\">{}</td><td><code>{}</code></td><td class=\"number\">{}</td>\
             <td class=\"number\">{}</td><td class=\"{class}\">{}</td></tr>",
            grouped(checkpoint.step),
            escape(&folder.display().to_string()),
            checkpoint.tensors,
            bytes(checkpoint.bytes as f64),
            escape(state)
        );
    }
    out.push_str("</tbody></table></div></section>");
}

fn settings(out: &mut String, run: &Run) {
    if run.settings.is_empty() {
        return;
    }
    let origins = run.settings.iter().any(|setting| setting.origin.is_some());
    let _ = write!(
        out,
        "<section><h2>Experiment <small>{} settings</small></h2>\
         <input type=\"search\" id=\"filter\" placeholder=\"Filter settings\" aria-label=\"Filter settings\">\
         <div class=\"scroll tall\"><table id=\"settings\"><thead><tr><th>Key</th><th>Value</th>{}</tr></thead><tbody>",
        run.settings.len(),
        if origins { "<th>Decided by</th>" } else { "" }
    );
    for setting in &run.settings {
        let _ = write!(
            out,
            "<tr><td><code>{}</code></td><td>{}</td>",
            escape(&setting.key),
            escape(&setting.value)
        );
        if origins {
            let _ = write!(
                out,
                "<td class=\"origin\">{}</td>",
                escape(setting.origin.as_deref().unwrap_or(""))
            );
        }
        out.push_str("</tr>");
    }
    out.push_str("</tbody></table></div></section>");
}
