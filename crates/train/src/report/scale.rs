//! Axes: ranges, positions, ticks and their labels.

use super::format::{scientific, short, significant};

/// A mapping of values to positions along an axis.
pub(super) struct Scale {
    pub low: f64,
    pub high: f64,
    pub log: bool,
}

impl Scale {
    /// Of the values' range, with a little room.
    pub(super) fn of(values: &[f64], from_zero: bool, log_above: f64) -> Self {
        // Limited, so that no sum or product below leaves the range of numbers.
        let limited = || values.iter().map(|value| value.clamp(-1e300, 1e300));
        let low = limited().fold(f64::INFINITY, f64::min);
        let high = limited().fold(f64::NEG_INFINITY, f64::max);
        if !low.is_finite() || !high.is_finite() {
            return Self {
                low: 0.0,
                high: 1.0,
                log: false,
            };
        }
        if from_zero {
            // Denormal numbers leave no room for ticks.
            let high = if high > 1e-300 { high * 1.08 } else { 1.0 };
            return Self {
                low: 0.0,
                high,
                log: false,
            };
        }
        if low > 0.0 && high / low > log_above {
            return Self {
                low: low / 1.1,
                high: high * 1.1,
                log: true,
            };
        }
        let room = if high > low {
            (high - low) * 0.05
        } else {
            high.abs().max(1e-9) * 0.1
        };
        Self {
            low: low - room,
            high: high + room,
            log: false,
        }
    }

    /// 0 at the low end, 1 at the high end and beyond.
    pub(super) fn place(&self, value: f64) -> f64 {
        let part = if self.log {
            (value.ln() - self.low.ln()) / (self.high.ln() - self.low.ln())
        } else {
            (value - self.low) / (self.high - self.low)
        };
        part.clamp(0.0, 1.0)
    }

    /// Round values inside, about `wanted` of them.
    pub(super) fn ticks(&self, wanted: f64) -> Vec<f64> {
        if self.log {
            let span = self.high.log10() - self.low.log10();
            let factors: &[f64] = match span {
                span if span > 3.0 => &[1.0],
                span if span > 1.0 => &[1.0, 2.0, 5.0],
                _ => &[1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0],
            };
            let decades = self.low.log10().floor() as i32..=self.high.log10().ceil() as i32;
            let all = decades
                .step_by((span / 8.0).ceil().max(1.0) as usize)
                .flat_map(|d| factors.iter().map(move |f| f * 10f64.powi(d)));
            return all.filter(|t| (self.low..=self.high).contains(t)).collect();
        }
        let raw = (self.high - self.low) / wanted;
        let power = 10f64.powf(raw.log10().floor());
        let factor = [1.0, 2.0, 5.0, 10.0]
            .into_iter()
            .find(|f| f * power >= raw * 0.999)
            .unwrap_or(10.0);
        let step = factor * power;
        let first = (self.low / step).ceil();
        // A range at the limit of what numbers can tell apart has no ticks.
        if !first.is_finite() || first.abs() > 1e15 {
            return Vec::new();
        }
        let first = first as i64;
        (first..)
            .map(|i| i as f64 * step)
            .take_while(|t| *t <= self.high + step * 1e-9)
            .take(100)
            .collect()
    }
}

/// A tick's label; the largest tick decides whether thousands are shortened.
pub(super) fn tick_text(value: f64, largest: f64) -> String {
    let size = value.abs();
    if largest >= 1e4 {
        short(value)
    } else if size > 0.0 && size < 0.01 {
        scientific(value, 3)
    } else {
        significant(value, 4)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_inside() {
        let table: [(f64, f64, f64, &[f64]); 5] = [
            (0.0, 10.0, 5.0, &[0.0, 2.0, 4.0, 6.0, 8.0, 10.0]),
            (1.3, 2.9, 5.0, &[1.5, 2.0, 2.5]),
            (
                0.0,
                400.0,
                8.0,
                &[0.0, 50.0, 100.0, 150.0, 200.0, 250.0, 300.0, 350.0, 400.0],
            ),
            (-1.0, 1.0, 4.0, &[-1.0, -0.5, 0.0, 0.5, 1.0]),
            (0.0, 0.002, 4.0, &[0.0, 0.0005, 0.001, 0.0015, 0.002]),
        ];
        for (low, high, wanted, ticks) in table {
            let found = Scale {
                low,
                high,
                log: false,
            }
            .ticks(wanted);
            assert_eq!(found.len(), ticks.len(), "{found:?}");
            for (a, b) in found.iter().zip(ticks) {
                assert!((a - b).abs() < 1e-12, "{found:?}");
            }
        }
        let log = Scale::of(&[0.1, 80.0], false, 40.0);
        assert!(log.log);
        assert!(
            log.ticks(5.0).contains(&1.0) && log.ticks(5.0).contains(&50.0),
            "{:?}",
            log.ticks(5.0)
        );
        assert!(log.place(log.low).abs() < 1e-12 && (log.place(log.high) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn odd_ranges_still_give_a_scale() {
        let above = f64::from_bits(1e300_f64.to_bits() + 1);
        let table: [&[f64]; 11] = [
            &[],
            &[f64::NAN],
            &[0.0],
            &[2.5, 2.5],
            &[-3.0],
            &[1e-300, 1e300],
            &[5e-324],
            &[5e-324, 1e-323],
            &[-1e300, 5e-324],
            &[1e300, above],
            &[f64::MIN, f64::MAX],
        ];
        for values in table {
            let values: Vec<f64> = values.iter().copied().filter(|v| v.is_finite()).collect();
            for (from_zero, log_above) in [(false, 40.0), (true, 40.0), (false, 1.0)] {
                let scale = Scale::of(&values, from_zero, log_above);
                assert!(scale.low < scale.high, "{values:?}");
                assert!(scale.ticks(5.0).len() <= 100, "{values:?}");
                let places = values
                    .iter()
                    .chain(&scale.ticks(5.0))
                    .map(|v| scale.place(*v))
                    .collect::<Vec<_>>();
                assert!(
                    places.iter().all(|p| (0.0..=1.0).contains(p)),
                    "{values:?}: {places:?}"
                );
            }
        }
    }
}
