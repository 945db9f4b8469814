//! Numbers and text for people.

/// Text that may stand in HTML and SVG, in content and in quoted attributes.
/// Characters that XML 1.0 does not allow become the replacement character.
pub(super) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' | '\t' => out.push(c),
            '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            c if c.is_control() => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

/// About `digits` significant digits, without needless zeros: `1.6305`, `0.00012`, `2e-5`.
pub(super) fn significant(value: f64, digits: usize) -> String {
    if !value.is_finite() {
        return "not finite".into();
    }
    if value == 0.0 {
        return "0".into();
    }
    let magnitude = value.abs().log10().floor() as i32;
    if !(-4..15).contains(&magnitude) {
        return scientific(value, digits);
    }
    let decimals = (digits as i32 - 1 - magnitude).max(0) as usize;
    trim_zeros(format!("{value:.decimals$}"))
}

/// Three decimals, for losses that are compared with each other.
pub(super) fn decimals(value: f64) -> String {
    if value.is_finite() {
        format!("{value:.3}")
    } else {
        "not finite".into()
    }
}

/// `2e-3`, `1.5e-3`.
pub(super) fn scientific(value: f64, digits: usize) -> String {
    if value == 0.0 {
        return "0".into();
    }
    let text = format!("{value:.0$e}", digits.saturating_sub(1));
    match text.split_once('e') {
        Some((mantissa, exponent)) => format!("{}e{exponent}", trim_zeros(mantissa.to_owned())),
        None => text,
    }
}

/// With a suffix for thousands: `950`, `4.57k`, `819k`, `1.2M`, `8.03B`.
pub(super) fn short(value: f64) -> String {
    for (size, suffix) in [(1e12, "T"), (1e9, "B"), (1e6, "M"), (1e3, "k")] {
        // What would round up to the next suffix gets it.
        if value.abs() >= size * 0.9995 {
            return format!("{}{suffix}", significant(value / size, 3));
        }
    }
    significant(value, 3)
}

/// With thousands separators: `819,200`.
pub(super) fn grouped(value: u64) -> String {
    let digits = value.to_string();
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// The largest binary unit below a number of bytes, and its name.
pub(super) fn byte_unit(bytes: f64) -> (f64, &'static str) {
    for (size, name) in [
        (f64::from(1u32 << 30), "GiB"),
        (f64::from(1u32 << 20), "MiB"),
        (1024.0, "KiB"),
    ] {
        if bytes >= size {
            return (size, name);
        }
    }
    (1.0, "B")
}

/// `1.25 GiB`.
pub(super) fn bytes(value: f64) -> String {
    let (size, name) = byte_unit(value);
    format!("{} {name}", significant(value / size, 3))
}

/// `2 h 05 min`, `3 min 07 s`, `12.4 s`.
pub(super) fn duration(seconds: f64) -> String {
    if !seconds.is_finite() || seconds < 0.0 {
        return "unknown".into();
    }
    if seconds < 60.0 {
        return format!("{} s", significant(seconds, 3));
    }
    let whole = seconds.round() as u64;
    let (days, hours, minutes) = (whole / 86400, whole / 3600 % 24, whole / 60 % 60);
    match (days, hours) {
        (0, 0) => format!("{minutes} min {:02} s", whole % 60),
        (0, _) => format!("{hours} h {minutes:02} min"),
        _ => format!("{days} d {hours:02} h"),
    }
}

fn trim_zeros(text: String) -> String {
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_right() {
        let table = [
            (significant(1.63049, 4), "1.63"),
            (significant(1.63549, 4), "1.635"),
            (significant(1234.5, 3), "1234"),
            (significant(0.00012, 3), "0.00012"),
            (significant(2e-5, 3), "2e-5"),
            (significant(-0.5, 3), "-0.5"),
            (significant(100.0, 2), "100"),
            (significant(f64::NAN, 3), "not finite"),
            (decimals(1.7), "1.700"),
            (decimals(f64::NAN), "not finite"),
            (scientific(0.0015, 2), "1.5e-3"),
            (scientific(0.002, 2), "2e-3"),
            (short(950.0), "950"),
            (short(4567.8), "4.57k"),
            (short(819_200.0), "819k"),
            (short(999_999.0), "1M"),
            (short(8_030_261_248.0), "8.03B"),
            (grouped(0), "0"),
            (grouped(999), "999"),
            (grouped(819_200), "819,200"),
            (grouped(27_795_968), "27,795,968"),
            (bytes(512.0), "512 B"),
            (bytes(1.25 * 1073741824.0), "1.25 GiB"),
            (duration(12.41), "12.4 s"),
            (duration(187.0), "3 min 07 s"),
            (duration(7500.0), "2 h 05 min"),
            (duration(90_000.0), "1 d 01 h"),
            (duration(f64::NAN), "unknown"),
        ];
        for (found, wanted) in table {
            assert_eq!(found, wanted);
        }
    }

    #[test]
    fn markup_is_escaped() {
        assert_eq!(
            escape("<a href=\"x\">&'</a>\u{0}\u{1b}\n"),
            "&lt;a href=&quot;x&quot;&gt;&amp;&#39;&lt;/a&gt;\u{fffd}\u{fffd}\n"
        );
    }
}
