//! Series of values over steps: thinning and smoothing.

/// Step and value. Values that are not finite, written as `null`, are NaN.
pub(super) type Points = Vec<(u64, f64)>;

/// More points than this are thinned out, which keeps every peak.
const MAX_POINTS: usize = 1200;
/// At most about [`MAX_POINTS`] points: of each stretch the lowest, the highest
/// and the first that is not finite.
pub(super) fn thin(points: &[(u64, f64)]) -> Points {
    if points.len() <= MAX_POINTS {
        return points.to_vec();
    }
    let stretch = points.len().div_ceil(MAX_POINTS / 2);
    let mut kept = Points::new();
    for chunk in points.chunks(stretch) {
        let finite = || chunk.iter().filter(|(_, value)| value.is_finite());
        let low = finite().min_by(|a, b| a.1.total_cmp(&b.1));
        let high = finite().max_by(|a, b| a.1.total_cmp(&b.1));
        let bad = chunk.iter().find(|(_, value)| !value.is_finite());
        let mut of_chunk: Points = [low, high, bad].into_iter().flatten().copied().collect();
        of_chunk.sort_by_key(|(step, _)| *step);
        of_chunk.dedup_by_key(|(step, _)| *step);
        kept.extend(of_chunk);
    }
    if let (Some(first), Some(last)) = (points.first(), points.last()) {
        if kept.first().is_some_and(|kept| kept.0 != first.0) {
            kept.insert(0, *first);
        }
        if kept.last().is_some_and(|kept| kept.0 != last.0) {
            kept.push(*last);
        }
    }
    kept
}

/// Weighted mean over about `window` values around each one (a triangle: two
/// plain means in turn); values that are not finite are passed over. At the
/// steep start fewer values are taken, so that the line does not lag there.
pub(super) fn smooth(points: &[(u64, f64)], window: usize) -> Points {
    let finite: Points = points
        .iter()
        .copied()
        .filter(|(_, value)| value.is_finite())
        .collect();
    let half = window.div_ceil(4);
    let values: Vec<f64> = finite.iter().map(|(_, value)| *value).collect();
    let smoothed = running_mean(&running_mean(&values, half), half);
    finite
        .iter()
        .zip(smoothed)
        .map(|((step, _), value)| (*step, value))
        .collect()
}

/// Mean of each value with `half` values on either side, as far as there are.
fn running_mean(values: &[f64], half: usize) -> Vec<f64> {
    let mut sums = vec![0.0];
    let mut sum = 0.0;
    for value in values {
        sum += value;
        sums.push(sum);
    }
    let mean = |i: usize| {
        let half = half.min(i);
        let (first, end) = (i - half, (i + half + 1).min(values.len()));
        (sums[end] - sums[first]) / (end - first) as f64
    };
    (0..values.len()).map(mean).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thinning_keeps_peaks_ends_and_bad_values() {
        let mut points: Points = (0..100_000).map(|i| (i, (i as f64 * 0.01).sin())).collect();
        points[55_555].1 = 99.0;
        points[77_777].1 = f64::NAN;
        let kept = thin(&points);
        assert!(kept.len() <= MAX_POINTS * 3 / 2 + 4, "{}", kept.len());
        assert!(kept.contains(&(55_555, 99.0)));
        assert!(
            kept.iter()
                .any(|(step, value)| *step == 77_777 && value.is_nan())
        );
        assert_eq!((kept[0], kept[kept.len() - 1]), (points[0], points[99_999]));
        assert!(kept.is_sorted_by(|a, b| a.0 < b.0));
    }

    #[test]
    fn smoothing_neither_lags_nor_leads() {
        let table: [(&[f64], usize, &[f64]); 5] = [
            (&[3.0, 3.0, 3.0], 8, &[3.0, 3.0, 3.0]),
            (
                &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0],
                4,
                &[0.0, 1.0, 2.0, 3.0, 4.0, 4.5 + 1.0 / 3.0, 5.25],
            ),
            (
                &[0.0, 0.0, 0.0, 9.0, 0.0, 0.0, 0.0],
                4,
                &[0.0, 1.0, 2.0, 3.0, 2.0, 1.0, 0.0],
            ),
            (&[1.0, f64::NAN, 1.0, 1.0], 4, &[1.0, 1.0, 1.0]),
            (&[], 4, &[]),
        ];
        for (values, window, wanted) in table {
            let points: Points = values
                .iter()
                .enumerate()
                .map(|(i, v)| (i as u64, *v))
                .collect();
            let found: Vec<f64> = smooth(&points, window).iter().map(|(_, v)| *v).collect();
            assert_eq!(found.len(), wanted.len());
            assert!(
                found.iter().zip(wanted).all(|(a, b)| (a - b).abs() < 1e-12),
                "{found:?}"
            );
        }
    }
}
