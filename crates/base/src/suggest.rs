//! "Did you mean": the known name nearest to a mistyped one.

/// The candidate nearest to `name`, if one is near enough to be a likely typo:
/// at most one edit for every three characters, and never a different word.
/// Ties go to the earlier candidate.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let name: Vec<char> = normal(name);
    let limit = (name.len() / 3).max(1);
    let mut best: Option<(usize, &str)> = None;
    for candidate in candidates {
        let distance = edit_distance(&name, &normal(candidate), limit);
        if distance <= limit && best.is_none_or(|(least, _)| distance < least) {
            best = Some((distance, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

/// Case and the choice of hyphen or underscore are no part of the distance.
fn normal(name: &str) -> Vec<char> {
    name.chars()
        .map(|c| {
            if c == '-' {
                '_'
            } else {
                c.to_ascii_lowercase()
            }
        })
        .collect()
}

/// Optimal string alignment distance (insertions, deletions, substitutions and
/// swaps of neighbours), or `limit + 1` once the lengths alone exceed it.
fn edit_distance(a: &[char], b: &[char], limit: usize) -> usize {
    if a.len().abs_diff(b.len()) > limit {
        return limit + 1;
    }
    let mut before: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut row = Vec::with_capacity(b.len() + 1);
        row.push(i + 1);
        for (j, y) in b.iter().enumerate() {
            let mut least = (above[j] + usize::from(x != y))
                .min(above[j + 1] + 1)
                .min(row[j] + 1);
            if i > 0 && j > 0 && *x == b[j - 1] && a[i - 1] == *y {
                least = least.min(before[j - 1] + 1);
            }
            row.push(least);
        }
        before = std::mem::replace(&mut above, row);
    }
    above[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_likely_typo_and_nothing_else() {
        let known = [
            "train_iters",
            "eval_iters",
            "lr",
            "micro_batch_size",
            "seed",
        ];
        for (typed, expected) in [
            ("train_iter", Some("train_iters")),
            ("trian_iters", Some("train_iters")),
            ("train-iters", Some("train_iters")),
            ("Seed", Some("seed")),
            ("sede", Some("seed")),
            ("lr", Some("lr")),
            ("rl", Some("lr")),
            ("micro_batchsize", Some("micro_batch_size")),
            ("", None),
            ("wholly_different", None),
        ] {
            assert_eq!(nearest(typed, known), expected, "{typed}");
        }
    }

    #[test]
    fn distance_counts_each_kind_of_edit_once() {
        let d = |a: &str, b: &str| edit_distance(&normal(a), &normal(b), 9);
        assert_eq!(d("kitten", "sitting"), 3);
        assert_eq!(d("abcd", "acbd"), 1);
        assert_eq!(d("", "abc"), 3);
        assert_eq!(d("same", "same"), 0);
    }
}
