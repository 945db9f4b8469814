//! Line charts as SVG: scales, ticks, paths, legend, and the data that the
//! page's script needs to show values under the pointer.

use std::fmt::Write;

use serde_json::{Value, json};

use super::format::escape;
use super::points::{Points, thin};
use super::scale::{Scale, tick_text};

/// Space around the plot, in units of the view box.
const LEFT: f64 = 62.0;
const RIGHT: f64 = 16.0;
const TOP: f64 = 14.0;
const BOTTOM: f64 = 32.0;

/// How a series is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    /// The line that counts.
    Main,
    /// The measured values behind a smoothed line.
    Faint,
    /// Few points from another source: a line with dots.
    Second,
}

/// One line.
#[derive(Clone, Debug)]
pub(super) struct Series {
    pub name: String,
    pub style: Style,
    pub points: Points,
}

/// A chart over steps.
#[derive(Clone, Debug)]
pub(super) struct Chart {
    pub title: String,
    /// Unit of the values, shown beside the title.
    pub unit: String,
    pub series: Vec<Series>,
    /// The axis starts at 0.
    pub from_zero: bool,
    /// Positive values that span more than this factor get a logarithmic axis.
    pub log_above: f64,
    pub width: f64,
    pub height: f64,
}

impl Style {
    fn class(self) -> &'static str {
        match self {
            Self::Main => "main",
            Self::Faint => "faint",
            Self::Second => "second",
        }
    }
}

impl Chart {
    /// True when there is nothing to draw.
    pub(super) fn is_empty(&self) -> bool {
        self.series.iter().all(|series| series.points.is_empty())
    }

    /// The picture, as an element of a page.
    pub(super) fn svg(&self) -> String {
        let mut out = self.open(r#"class="chart""#);
        self.draw(&mut out);
        out.push_str("</svg>");
        out
    }

    /// The picture as a file: with its own colours, title and legend.
    pub(super) fn standalone(&self) -> String {
        const HEAD: f64 = 34.0;
        let (width, height) = (self.width, self.height + HEAD);
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
             height=\"{height}\" class=\"chart\">\n<style>{}</style>\n<rect class=\"ground\" width=\"100%\" height=\"100%\"/>\n",
            include_str!("chart.css")
        );
        let _ = write!(
            out,
            "<text class=\"title\" x=\"16\" y=\"24\">{}<tspan class=\"unit\" dx=\"6\">{}</tspan></text>",
            escape(&self.title),
            escape(&self.unit_text())
        );
        let mut x = width - RIGHT;
        for series in self
            .series
            .iter()
            .rev()
            .filter(|series| !series.points.is_empty())
        {
            let text = escape(&series.name);
            let _ = write!(
                out,
                "<text class=\"legend\" x=\"{x:.0}\" y=\"24\" text-anchor=\"end\">{text}</text>"
            );
            x -= series.name.chars().count() as f64 * 6.6 + 8.0;
            let _ = write!(
                out,
                "<line class=\"swatch {}\" x1=\"{:.0}\" x2=\"{x:.0}\" y1=\"20\" y2=\"20\"/>",
                series.style.class(),
                x - 18.0
            );
            x -= 36.0;
        }
        let _ = write!(out, "<g transform=\"translate(0 {HEAD})\">");
        self.draw(&mut out);
        out.push_str("</g></svg>\n");
        out
    }

    /// What the page's script needs: the plot's place, the range of steps, the points.
    pub(super) fn data(&self) -> Value {
        let steps = self.step_scale();
        let series: Vec<Value> = self
            .series
            .iter()
            .filter(|series| !series.points.is_empty())
            .map(|series| {
                let points: Vec<Value> = thin(&series.points)
                    .iter()
                    .map(|(step, value)| json!([step, value]))
                    .collect();
                json!({"name": series.name, "class": series.style.class(), "points": points})
            })
            .collect();
        json!({
            "width": self.width, "left": LEFT, "right": self.width - RIGHT, "top": TOP, "bottom": self.height - BOTTOM,
            "low": steps.low, "high": steps.high, "unit": self.unit, "series": series,
        })
    }

    /// Name and style class of each series drawn, for a legend.
    pub(super) fn legend(&self) -> Vec<(&str, &'static str)> {
        let drawn = self
            .series
            .iter()
            .filter(|series| !series.points.is_empty());
        drawn
            .map(|series| (series.name.as_str(), series.style.class()))
            .collect()
    }

    /// The unit, and whether the axis is logarithmic.
    pub(super) fn unit_text(&self) -> String {
        let log = if self.value_scale().log {
            "logarithmic"
        } else {
            ""
        };
        let parts = [self.unit.as_str(), log];
        parts
            .into_iter()
            .filter(|part| !part.is_empty())
            .collect::<Vec<_>>()
            .join(", ")
    }

    fn open(&self, attributes: &str) -> String {
        format!(
            "<svg {attributes} viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{} over steps\">",
            self.width,
            self.height,
            escape(&self.title)
        )
    }

    fn step_scale(&self) -> Scale {
        let steps = || {
            self.series
                .iter()
                .flat_map(|series| series.points.iter().map(|(step, _)| *step as f64))
        };
        let high = steps().fold(1.0, f64::max);
        let low = steps().fold(f64::INFINITY, f64::min);
        // A run begins at 0 unless its first steps are not on record.
        let low = if low.is_finite() && low > high * 0.1 && low < high {
            low
        } else {
            0.0
        };
        Scale {
            low,
            high,
            log: false,
        }
    }

    fn value_scale(&self) -> Scale {
        let values: Vec<f64> = self
            .series
            .iter()
            .flat_map(|series| series.points.iter().map(|(_, value)| *value))
            .filter(|value| value.is_finite())
            .collect();
        Scale::of(&values, self.from_zero, self.log_above)
    }

    fn draw(&self, out: &mut String) {
        let (steps, values) = (self.step_scale(), self.value_scale());
        let (right, bottom) = (self.width - RIGHT, self.height - BOTTOM);
        let x = |step: f64| LEFT + steps.place(step) * (right - LEFT);
        let y = |value: f64| bottom - values.place(value) * (bottom - TOP);
        let ticks = values.ticks(5.0);
        let largest = ticks.iter().copied().fold(0.0, f64::max);
        for tick in ticks {
            let (at, text) = (y(tick), tick_text(tick, largest));
            let _ = write!(
                out,
                "<line class=\"grid\" x1=\"{LEFT}\" x2=\"{right}\" y1=\"{at:.1}\" y2=\"{at:.1}\"/>"
            );
            let _ = write!(
                out,
                "<text class=\"tick\" x=\"{}\" y=\"{at:.1}\" dy=\"0.35em\" text-anchor=\"end\">{text}</text>",
                LEFT - 8.0
            );
        }
        for tick in steps.ticks((self.width / 110.0).max(3.0)) {
            if tick.fract() == 0.0 {
                let at = x(tick);
                let _ = write!(
                    out,
                    "<line class=\"axis\" x1=\"{at:.1}\" x2=\"{at:.1}\" y1=\"{bottom}\" y2=\"{}\"/>\
                     <text class=\"tick\" x=\"{at:.1}\" y=\"{}\" dy=\"0.9em\" text-anchor=\"middle\">{}</text>",
                    bottom + 4.0,
                    bottom + 7.0,
                    tick_text(tick, steps.high)
                );
            }
        }
        let _ = write!(
            out,
            "<line class=\"axis\" x1=\"{LEFT}\" x2=\"{right}\" y1=\"{bottom}\" y2=\"{bottom}\"/>\
             <text class=\"tick\" x=\"{}\" y=\"{}\" dy=\"0.9em\" text-anchor=\"end\">step</text>",
            LEFT - 12.0,
            bottom + 7.0
        );
        for series in &self.series {
            draw_series(out, series, &x, &y, bottom, values.log);
        }
    }
}

fn draw_series(
    out: &mut String,
    series: &Series,
    x: &dyn Fn(f64) -> f64,
    y: &dyn Fn(f64) -> f64,
    bottom: f64,
    log: bool,
) {
    let class = series.style.class();
    let points = thin(&series.points);
    let drawable = |value: f64| value.is_finite() && (!log || value > 0.0);
    let mut path = String::new();
    let mut pen_down = false;
    for (step, value) in &points {
        if drawable(*value) {
            let letter = if pen_down { 'L' } else { 'M' };
            let _ = write!(path, "{letter}{:.1} {:.1}", x(*step as f64), y(*value));
        }
        pen_down = drawable(*value);
    }
    if !path.is_empty() {
        let _ = write!(out, "<path class=\"line {class}\" d=\"{path}\"/>");
    }
    // A single point makes no line.
    let drawn = points.iter().filter(|(_, value)| drawable(*value)).count();
    if series.style == Style::Second || drawn == 1 {
        for (step, value) in points.iter().filter(|(_, value)| drawable(*value)) {
            let _ = write!(
                out,
                "<circle class=\"dot {class}\" cx=\"{:.1}\" cy=\"{:.1}\" r=\"3.5\"/>",
                x(*step as f64),
                y(*value)
            );
        }
    }
    for (step, _) in points.iter().filter(|(_, value)| !value.is_finite()) {
        let at = x(*step as f64);
        let _ = write!(
            out,
            "<path class=\"bad\" d=\"M{at:.1} {:.1}l-4 8h8z\"><title>not finite at step {step}</title></path>",
            bottom - 9.0
        );
    }
}
