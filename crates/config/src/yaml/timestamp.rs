//! YAML 1.1 dates and times, by `PyYAML`'s pattern, normalised to ISO 8601.

/// The date or time in ISO 8601, `None` when the text has not that form.
///
/// # Errors
/// A message when it has the form and names no day or time.
pub(crate) fn resolve(text: &str) -> Result<Option<String>, String> {
    let Some(parts) = split(text) else {
        return Ok(None);
    };
    parts
        .check()
        .map_err(|what| format!("`{text}` is no date: {what}"))?;
    Ok(Some(parts.iso()))
}

/// The numbers of a timestamp.
struct Parts {
    year: u32,
    month: u32,
    day: u32,
    time: Option<Time>,
}

struct Time {
    hour: u32,
    minute: u32,
    second: u32,
    microsecond: u32,
    /// Minutes east of Greenwich; `None` when no zone is given.
    offset: Option<i32>,
}

impl Parts {
    fn check(&self) -> Result<(), &'static str> {
        let leap = self.year.is_multiple_of(4)
            && (!self.year.is_multiple_of(100) || self.year.is_multiple_of(400));
        let days = match self.month {
            1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
            4 | 6 | 9 | 11 => 30,
            2 if leap => 29,
            2 => 28,
            _ => return Err("the month is not in 1..12"),
        };
        if self.year == 0 {
            return Err("the year is not in 1..9999");
        }
        if self.day == 0 || self.day > days {
            return Err("the month has no such day");
        }
        let Some(time) = &self.time else {
            return Ok(());
        };
        if time.hour > 23 || time.minute > 59 || time.second > 59 {
            return Err("the time of day is not in 00:00:00..23:59:59");
        }
        if time.offset.is_some_and(|minutes| minutes.abs() >= 24 * 60) {
            return Err("the zone is a day or more away");
        }
        Ok(())
    }

    fn iso(&self) -> String {
        let mut out = format!("{:04}-{:02}-{:02}", self.year, self.month, self.day);
        let Some(time) = &self.time else { return out };
        out.push_str(&format!(
            "T{:02}:{:02}:{:02}",
            time.hour, time.minute, time.second
        ));
        if time.microsecond > 0 {
            out.push_str(&format!(".{:06}", time.microsecond));
        }
        if let Some(minutes) = time.offset {
            let sign = if minutes < 0 { '-' } else { '+' };
            out.push_str(&format!(
                "{sign}{:02}:{:02}",
                minutes.abs() / 60,
                minutes.abs() % 60
            ));
        }
        out
    }
}

/// Reads digits off the front of a text.
struct Cursor<'a>(&'a str);

impl Cursor<'_> {
    /// Between `least` and `most` digits, as many as there are.
    fn number(&mut self, least: usize, most: usize) -> Option<u32> {
        let count = self
            .0
            .bytes()
            .take(most)
            .take_while(u8::is_ascii_digit)
            .count();
        if count < least {
            return None;
        }
        let value = self.0[..count].parse().ok()?;
        self.0 = &self.0[count..];
        Some(value)
    }

    /// One character that must stand here.
    fn take(&mut self, wanted: char) -> Option<()> {
        self.0 = self.0.strip_prefix(wanted)?;
        Some(())
    }

    /// Spaces and tabs; how many.
    fn blanks(&mut self) -> usize {
        let rest = self.0.trim_start_matches([' ', '\t']);
        let count = self.0.len() - rest.len();
        self.0 = rest;
        count
    }
}

fn split(text: &str) -> Option<Parts> {
    let mut cursor = Cursor(text);
    let year = cursor.number(4, 4)?;
    cursor.take('-')?;
    let month = cursor.number(1, 2)?;
    cursor.take('-')?;
    let day = cursor.number(1, 2)?;
    if cursor.0.is_empty() {
        // Without a time the form is strictly four, two and two digits.
        return (text.len() == 10).then_some(Parts {
            year,
            month,
            day,
            time: None,
        });
    }
    if cursor.0.starts_with(['T', 't']) {
        cursor.0 = &cursor.0[1..];
    } else if cursor.blanks() == 0 {
        return None;
    }
    let hour = cursor.number(1, 2)?;
    cursor.take(':')?;
    let minute = cursor.number(2, 2)?;
    cursor.take(':')?;
    let second = cursor.number(2, 2)?;
    let mut microsecond = 0;
    if cursor.take('.').is_some() {
        let count = cursor.0.bytes().take_while(u8::is_ascii_digit).count();
        let kept = format!("{:0<6}", &cursor.0[..count.min(6)]);
        microsecond = kept.parse().ok()?;
        cursor.0 = &cursor.0[count..];
    }
    let blanks = cursor.blanks();
    let offset = if cursor.0.is_empty() {
        if blanks > 0 {
            return None;
        }
        None
    } else if cursor.0 == "Z" {
        Some(0)
    } else {
        Some(zone(&mut cursor)?)
    };
    Some(Parts {
        year,
        month,
        day,
        time: Some(Time {
            hour,
            minute,
            second,
            microsecond,
            offset,
        }),
    })
}

/// `+5`, `-05` or `+05:30`, in minutes.
fn zone(cursor: &mut Cursor<'_>) -> Option<i32> {
    let negative = cursor.0.starts_with('-');
    cursor.0 = cursor.0.strip_prefix(['-', '+'])?;
    let mut minutes = cursor.number(1, 2)? * 60;
    if cursor.take(':').is_some() {
        minutes += cursor.number(2, 2)?;
    }
    if !cursor.0.is_empty() {
        return None;
    }
    let minutes = i32::try_from(minutes).ok()?;
    Some(if negative { -minutes } else { minutes })
}

#[cfg(test)]
mod tests {
    use super::resolve;

    /// Each row was read with `PyYAML` 6.0.3 and written with `isoformat()`.
    #[test]
    fn dates_and_times_mean_what_pyyaml_reads() {
        for (text, expected) in [
            ("2001-12-14", Some("2001-12-14")),
            ("2001-1-4", None),
            (
                "2001-12-14t21:59:43.10-05:00",
                Some("2001-12-14T21:59:43.100000-05:00"),
            ),
            (
                "2001-12-14 21:59:43.10 -5",
                Some("2001-12-14T21:59:43.100000-05:00"),
            ),
            (
                "2001-12-15 2:59:43.1234567",
                Some("2001-12-15T02:59:43.123456"),
            ),
            ("2001-12-15T02:59:43Z", Some("2001-12-15T02:59:43+00:00")),
            ("2001-1-5  3:00:00", Some("2001-01-05T03:00:00")),
            ("2001-12-15T02:59", None),
            ("2001-12-15x", None),
        ] {
            assert_eq!(resolve(text), Ok(expected.map(str::to_owned)), "{text}");
        }
    }

    #[test]
    fn a_day_that_never_was_is_an_error() {
        for text in [
            "2001-13-01",
            "2001-02-29",
            "0000-01-01",
            "2001-01-01 24:00:00",
            "2001-01-01 01:00:00+24:00",
        ] {
            assert!(resolve(text).is_err(), "{text}");
        }
    }
}
