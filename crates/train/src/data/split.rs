//! Which part of a corpus is held out. Whole units only (documents, or all
//! files of a crate), chosen by a fixed hash: the same corpus is split the
//! same way whatever the seed, so that runs can be compared.

use std::collections::BTreeMap;

use super::shuffle::mix;

/// One document, as far as splitting needs to know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item<'a> {
    /// Documents of one group stay together; `None` stands alone.
    pub group: Option<&'a str>,
    /// Bytes or tokens.
    pub size: u64,
}

/// The outcome: every document is on one side, except that the end of one may
/// be cut off for validation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Division {
    /// For each document: is it held out?
    pub held_out: Vec<bool>,
    /// The document whose end is held out, and how much of it (in units of
    /// size), where no whole document is small enough.
    pub tail: Option<(usize, u64)>,
}

/// No group can be held out, because there are fewer than two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooFewGroups(pub usize);

/// Holds out about `fraction` of the corpus, never more unless one unit alone
/// is more.
///
/// # Errors
/// [`TooFewGroups`] where documents are grouped and there is but one group.
pub fn divide(items: &[Item<'_>], fraction: f64) -> Result<Division, TooFewGroups> {
    let mut division = Division {
        held_out: vec![false; items.len()],
        tail: None,
    };
    let total: u64 = items.iter().map(|item| item.size).sum();
    let target = (total as f64 * fraction) as u64;
    if fraction <= 0.0 || items.is_empty() {
        return Ok(division);
    }
    let mut units = units(items);
    units.sort_by_key(|unit| unit.order);
    take(&units, target, &mut division.held_out);
    if division.held_out.contains(&true) {
        return Ok(division);
    }
    let grouped = units.iter().filter(|unit| unit.grouped).count();
    if grouped == units.len() {
        let smallest = units.iter().min_by_key(|unit| (unit.size, unit.order));
        let smallest = smallest
            .filter(|_| grouped > 1)
            .ok_or(TooFewGroups(grouped))?;
        smallest.hold_out(&mut division.held_out);
    } else {
        let last = items
            .iter()
            .rposition(|item| item.group.is_none() && item.size > target);
        division.tail = last.filter(|_| target > 0).map(|i| (i, target));
    }
    Ok(division)
}

/// Takes units in order while they fit: at first only those that are at most a
/// quarter of the share, so that no single one is what evaluation measures;
/// larger ones where these are not enough.
fn take(units: &[Unit], target: u64, held_out: &mut [bool]) {
    let mut taken = 0;
    let mut left = units.len();
    for limit in [target / 4, target] {
        for unit in units
            .iter()
            .filter(|unit| unit.size > 0 && unit.size <= limit)
        {
            let is_new = unit.members.iter().any(|i| !held_out[*i]);
            if is_new && left > 1 && taken + unit.size <= target {
                taken += unit.size;
                left -= 1;
                unit.hold_out(held_out);
            }
        }
        if taken * 2 >= target {
            break;
        }
    }
}

struct Unit {
    order: (u64, usize),
    size: u64,
    grouped: bool,
    members: Vec<usize>,
}

impl Unit {
    fn hold_out(&self, held_out: &mut [bool]) {
        self.members.iter().for_each(|i| held_out[*i] = true);
    }
}

fn units(items: &[Item<'_>]) -> Vec<Unit> {
    let mut groups: BTreeMap<&str, Unit> = BTreeMap::new();
    let mut units = Vec::new();
    for (index, item) in items.iter().enumerate() {
        let Some(group) = item.group else {
            units.push(Unit {
                order: (mix(index as u64), index),
                size: item.size,
                grouped: false,
                members: vec![index],
            });
            continue;
        };
        let unit = groups.entry(group).or_insert_with(|| Unit {
            order: (name_order(group), index),
            size: 0,
            grouped: true,
            members: Vec::new(),
        });
        unit.size += item.size;
        unit.members.push(index);
    }
    units.extend(groups.into_values());
    units
}

/// A fixed pseudo-random order of names.
#[must_use]
pub fn name_order(name: &str) -> u64 {
    name.bytes().fold(mix(name.len() as u64), |hash, byte| {
        mix(hash ^ u64::from(byte))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn alone(sizes: &[u64]) -> Vec<Item<'static>> {
        sizes
            .iter()
            .map(|size| Item {
                group: None,
                size: *size,
            })
            .collect()
    }

    proptest! {
        #[test]
        fn the_share_is_never_exceeded(sizes in prop::collection::vec(0u64..1000, 1..200), fraction in 0.0f64..0.9) {
            let items = alone(&sizes);
            let division = divide(&items, fraction).unwrap();
            let held: u64 = items.iter().zip(&division.held_out).filter(|(_, held)| **held).map(|(i, _)| i.size).sum();
            let held = held + division.tail.map_or(0, |(_, size)| size);
            let total: u64 = sizes.iter().sum();
            prop_assert!(held as f64 <= total as f64 * fraction);
            prop_assert!(division.held_out.contains(&false));
            if let Some((index, size)) = division.tail {
                prop_assert!(size < sizes[index] && !division.held_out.contains(&true));
            }
        }

        #[test]
        fn a_group_is_never_parted(groups in prop::collection::vec(0usize..8, 1..100), fraction in 0.0f64..0.9) {
            let names = ["a", "b", "c", "d", "e", "f", "g", "h"];
            let items: Vec<_> = groups.iter().map(|g| Item { group: Some(names[*g]), size: 10 }).collect();
            let Ok(division) = divide(&items, fraction) else {
                prop_assert!(groups.iter().all(|g| *g == groups[0]));
                return Ok(());
            };
            prop_assert_eq!(division.tail, None);
            for (a, held_a) in groups.iter().zip(&division.held_out) {
                for (b, held_b) in groups.iter().zip(&division.held_out) {
                    prop_assert!(a != b || held_a == held_b);
                }
            }
            prop_assert!(division.held_out.contains(&false));
        }
    }

    #[test]
    fn many_documents_come_close_to_the_share() {
        let sizes: Vec<u64> = (0..500).map(|i| 100 + i * 7 % 300).collect();
        let division = divide(&alone(&sizes), 0.05).unwrap();
        let held: u64 = sizes
            .iter()
            .zip(&division.held_out)
            .filter(|(_, h)| **h)
            .map(|(s, _)| s)
            .sum();
        let share = held as f64 / sizes.iter().sum::<u64>() as f64;
        assert!((0.045..=0.05).contains(&share), "{share}");
    }

    #[test]
    fn no_unit_is_most_of_what_is_held_out_where_that_can_be() {
        let mut sizes = vec![10; 1000];
        sizes.extend([400; 10]);
        let division = divide(&alone(&sizes), 0.05).unwrap();
        let held = division.held_out.iter().filter(|held| **held).count();
        assert_eq!(held, 70);
        let large = divide(&alone(&[500; 21]), 0.05).unwrap();
        assert_eq!(large.held_out.iter().filter(|held| **held).count(), 1);
    }

    #[test]
    fn one_large_document_gives_its_end() {
        let division = divide(&alone(&[1000]), 0.1).unwrap();
        assert_eq!(
            division,
            Division {
                held_out: vec![false],
                tail: Some((0, 100))
            }
        );
        let two = divide(&alone(&[1000, 900]), 0.1).unwrap();
        assert_eq!(two.tail, Some((1, 190)));
    }

    #[test]
    fn one_crate_cannot_be_split_and_of_two_the_smaller_is_held_out() {
        let item = |group, size| Item {
            group: Some(group),
            size,
        };
        assert_eq!(
            divide(&[item("a", 5), item("a", 6)], 0.1),
            Err(TooFewGroups(1))
        );
        let two = divide(&[item("a", 5), item("b", 6)], 0.1).unwrap();
        assert_eq!(two.held_out, [true, false]);
        assert_eq!(divide(&[item("a", 5)], 0.0).unwrap().held_out, [false]);
    }
}
