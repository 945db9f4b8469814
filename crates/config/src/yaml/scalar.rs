//! What a plain scalar means in YAML 1.1, by the patterns of `PyYAML`'s
//! `SafeLoader`: these decide what existing experiments mean.

use crate::value::Kind;

/// Digits an integer may have; Python refuses longer decimal text too.
const MAX_DIGITS: usize = 4300;

/// The value of a plain scalar.
///
/// # Errors
/// A message when the text has the form of a number or date but no value, such
/// as `0b_` or `2026-13-01`.
pub(crate) fn resolve(text: &str) -> Result<Kind, String> {
    let Some(&first) = text.as_bytes().first() else {
        return Ok(Kind::Null);
    };
    match first {
        b'~' | b'n' | b'N' if is_null(text) => Ok(Kind::Null),
        b'y' | b'Y' | b'n' | b'N' | b't' | b'T' | b'f' | b'F' | b'o' | b'O' => {
            Ok(boolean(text).map_or_else(|| Kind::Str(text.to_owned()), Kind::Bool))
        }
        b'-' | b'+' | b'.' | b'0'..=b'9' => {
            if let Some(value) = float(text) {
                Ok(Kind::Float(value))
            } else if let Some(kind) = integer(text)? {
                Ok(kind)
            } else if let Some(date) = super::timestamp::resolve(text)? {
                Ok(Kind::Date(date))
            } else {
                Ok(Kind::Str(text.to_owned()))
            }
        }
        _ => Ok(Kind::Str(text.to_owned())),
    }
}

/// True for the spellings of null.
pub(crate) fn is_null(text: &str) -> bool {
    matches!(text, "" | "~" | "null" | "Null" | "NULL")
}

/// The truth value of one of the 1.1 words: lower case, capital or all
/// capitals.
pub(crate) fn boolean(text: &str) -> Option<bool> {
    match text {
        "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => Some(true),
        "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => Some(false),
        _ => None,
    }
}

/// The float of one of the 1.1 forms. An exponent needs a point before it and
/// a sign in it; base 60 needs a point too.
pub(crate) fn float(text: &str) -> Option<f64> {
    let bytes = text.as_bytes();
    let signed = bytes.first().is_some_and(|b| matches!(b, b'-' | b'+'));
    let negative = bytes.first() == Some(&b'-');
    let body = &text[usize::from(signed)..];
    let apply = |value: f64| if negative { -value } else { value };
    match body {
        ".inf" | ".Inf" | ".INF" => return Some(apply(f64::INFINITY)),
        ".nan" | ".NaN" | ".NAN" if !signed => return Some(f64::NAN),
        _ => {}
    }
    let point = body.find('.')?;
    let (whole, rest) = (&body[..point], &body[point + 1..]);
    if whole.contains(':') {
        return sexagesimal_float(whole, rest).map(apply);
    }
    let (fraction, exponent) = match rest.find(['e', 'E']) {
        Some(at) => (&rest[..at], Some(&rest[at + 1..])),
        None => (rest, None),
    };
    let fraction_ok = fraction.bytes().all(|b| b.is_ascii_digit() || b == b'_');
    let form_ok = if whole.is_empty() {
        // `.5` but neither `-.5` nor `._5`.
        !signed && fraction.starts_with(|c: char| c.is_ascii_digit())
    } else {
        digits_then(whole)
    };
    let exponent_ok = exponent.is_none_or(|e| {
        e.strip_prefix(['-', '+'])
            .is_some_and(|d| !d.is_empty() && d.bytes().all(|b| b.is_ascii_digit()))
    });
    if !(fraction_ok && form_ok && exponent_ok) {
        return None;
    }
    body.replace('_', "").parse().ok().map(apply)
}

/// A digit followed by digits and underscores.
fn digits_then(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_digit())
        && text.bytes().all(|b| b.is_ascii_digit() || b == b'_')
}

/// `[0-5]?[0-9]`, a part of a base-60 number after its first.
fn sixtieth(part: &str) -> bool {
    match part.as_bytes() {
        [digit] => digit.is_ascii_digit(),
        [tens, digit] => matches!(tens, b'0'..=b'5') && digit.is_ascii_digit(),
        _ => false,
    }
}

/// `1:30.5`: parts to the base 60, the last with a fraction.
fn sexagesimal_float(whole: &str, fraction: &str) -> Option<f64> {
    let mut parts = whole.split(':');
    let first = parts.next()?;
    if !digits_then(first) || !fraction.bytes().all(|b| b.is_ascii_digit() || b == b'_') {
        return None;
    }
    let tail: Vec<&str> = parts.collect();
    if !tail.iter().all(|part| sixtieth(part)) {
        return None;
    }
    let last = format!("{}.{}", tail.last()?, fraction.replace('_', ""));
    // Summed from the last part up, in PyYAML's order, for the same rounding.
    let mut value = last.parse::<f64>().ok()?;
    let mut base = 60.0;
    for part in tail
        .iter()
        .rev()
        .skip(1)
        .copied()
        .chain([first.replace('_', "").as_str()])
    {
        value += part.parse::<f64>().ok()? * base;
        base *= 60.0;
    }
    Some(value)
}

/// The integer of one of the 1.1 forms: binary, octal by a leading zero,
/// decimal, hexadecimal, base 60; underscores allowed.
fn integer(text: &str) -> Result<Option<Kind>, String> {
    let negative = text.starts_with('-');
    let body = text.strip_prefix(['-', '+']).unwrap_or(text);
    let all = |digits: &str, ok: fn(u8) -> bool| {
        !digits.is_empty() && digits.bytes().all(|b| ok(b) || b == b'_')
    };
    let (digits, base) = if let Some(digits) = body
        .strip_prefix("0b")
        .filter(|d| all(d, |b| matches!(b, b'0' | b'1')))
    {
        (digits, 2)
    } else if let Some(digits) = body
        .strip_prefix("0x")
        .filter(|d| all(d, |b| b.is_ascii_hexdigit()))
    {
        (digits, 16)
    } else if body == "0" {
        (body, 10)
    } else if let Some(digits) = body
        .strip_prefix('0')
        .filter(|d| all(d, |b| matches!(b, b'0'..=b'7')))
    {
        // `0_` is zero: what is left without the underscores is the leading 0.
        if digits.bytes().all(|b| b == b'_') {
            ("0", 10)
        } else {
            (digits, 8)
        }
    } else if !body.starts_with('0') && digits_then(body) {
        (body, 10)
    } else {
        return sexagesimal_integer(text, body, negative);
    };
    let digits = digits.replace('_', "");
    if digits.is_empty() {
        return Err(format!("`{text}` has the form of a number but no digits"));
    }
    from_digits(text, &digits, base, negative).map(Some)
}

/// `12:30:45` is 45045.
fn sexagesimal_integer(text: &str, body: &str, negative: bool) -> Result<Option<Kind>, String> {
    let mut parts = body.split(':');
    let Some(first) = parts.next() else {
        return Ok(None);
    };
    let tail: Vec<&str> = parts.collect();
    if tail.is_empty()
        || first.starts_with('0')
        || !digits_then(first)
        || !tail.iter().all(|part| sixtieth(part))
    {
        return Ok(None);
    }
    let too_long = || format!("`{}` is a base-60 integer beyond 64 bits", shorten(text));
    let mut value: i64 = first.replace('_', "").parse().map_err(|_| too_long())?;
    for part in tail {
        let digit: i64 = part.parse().map_err(|_| too_long())?;
        value = value
            .checked_mul(60)
            .and_then(|v| v.checked_add(digit))
            .ok_or_else(too_long)?;
    }
    Ok(Some(Kind::Int(if negative { -value } else { value })))
}

/// An integer from digits to a base.
fn from_digits(text: &str, digits: &str, base: u32, negative: bool) -> Result<Kind, String> {
    let signed = if negative {
        format!("-{digits}")
    } else {
        digits.to_owned()
    };
    if let Ok(value) = i64::from_str_radix(&signed, base) {
        return Ok(Kind::Int(value));
    }
    if digits.len() > MAX_DIGITS {
        return Err(format!(
            "`{}` has {} digits; at most {MAX_DIGITS} are read",
            shorten(text),
            digits.len()
        ));
    }
    let decimal = to_decimal(digits, base);
    Ok(Kind::BigInt(if negative {
        format!("-{decimal}")
    } else {
        decimal
    }))
}

/// Any integer text of `-?[0-9]+`, with leading zeros as decimal; `None` when
/// there are too many digits.
pub(crate) fn decimal_integer(text: &str) -> Option<Kind> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    from_digits(text, digits, 10, text.starts_with('-')).ok()
}

/// Digits to a base as decimal digits without leading zeros.
fn to_decimal(digits: &str, base: u32) -> String {
    const LIMB: u64 = 1_000_000_000;
    let mut limbs: Vec<u64> = vec![0];
    for digit in digits.chars().filter_map(|c| c.to_digit(base)) {
        let mut carry = u64::from(digit);
        for limb in &mut limbs {
            let value = *limb * u64::from(base) + carry;
            *limb = value % LIMB;
            carry = value / LIMB;
        }
        if carry > 0 {
            limbs.push(carry);
        }
    }
    let mut out = String::new();
    for (index, limb) in limbs.iter().rev().enumerate() {
        if index == 0 {
            out.push_str(&limb.to_string());
        } else {
            out.push_str(&format!("{limb:09}"));
        }
    }
    out
}

/// The start of a long text, for messages.
pub(crate) fn shorten(text: &str) -> String {
    const SHOWN: usize = 60;
    if text.chars().count() <= SHOWN {
        return text.to_owned();
    }
    let start: String = text.chars().take(SHOWN).collect();
    format!("{start}...")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn show(text: &str) -> String {
        match resolve(text) {
            Ok(kind) => format!("{kind:?}"),
            Err(message) => format!("error: {message}"),
        }
    }

    /// Each row was read with `PyYAML` 6.0.3.
    #[test]
    fn plain_scalars_mean_what_pyyaml_reads() {
        let rows = [
            ("", "Null"),
            ("~", "Null"),
            ("null", "Null"),
            ("NULL", "Null"),
            ("nULL", r#"Str("nULL")"#),
            ("yes", "Bool(true)"),
            ("Off", "Bool(false)"),
            ("oN", r#"Str("oN")"#),
            ("y", r#"Str("y")"#),
            ("none", r#"Str("none")"#),
            ("TRUE", "Bool(true)"),
            ("1e-4", r#"Str("1e-4")"#),
            ("1.0e12", r#"Str("1.0e12")"#),
            ("1.0e-4", "Float(0.0001)"),
            ("157.0e+12", "Float(157000000000000.0)"),
            ("1.", "Float(1.0)"),
            (".5", "Float(0.5)"),
            ("-.5", r#"Str("-.5")"#),
            ("1_0.5", "Float(10.5)"),
            ("1._", "Float(1.0)"),
            ("._5", r#"Str("._5")"#),
            ("012", "Int(10)"),
            ("08", r#"Str("08")"#),
            ("0o17", r#"Str("0o17")"#),
            ("0_", "Int(0)"),
            ("0x1F", "Int(31)"),
            ("-0b1_0", "Int(-2)"),
            ("1_000", "Int(1000)"),
            ("+5", "Int(5)"),
            ("-0", "Int(0)"),
            ("00", "Int(0)"),
            ("_1", r#"Str("_1")"#),
            ("-_1", r#"Str("-_1")"#),
            ("12:30:45", "Int(45045)"),
            ("1:60", r#"Str("1:60")"#),
            ("-1:30", "Int(-90)"),
            ("1:30.5", "Float(90.5)"),
            ("01:30", r#"Str("01:30")"#),
            ("01:30.", "Float(90.0)"),
            ("190:20:30.15", "Float(685230.15)"),
            (".inf", "Float(inf)"),
            ("-.INF", "Float(-inf)"),
            (".NaN", "Float(NaN)"),
            ("-.nan", r#"Str("-.nan")"#),
            ("inf", r#"Str("inf")"#),
            ("-", r#"Str("-")"#),
            (".", r#"Str(".")"#),
            ("+", r#"Str("+")"#),
            ("9223372036854775807", "Int(9223372036854775807)"),
            ("-9223372036854775808", "Int(-9223372036854775808)"),
            ("9223372036854775808", r#"BigInt("9223372036854775808")"#),
            (
                "0xFFFFFFFFFFFFFFFFFF",
                r#"BigInt("4722366482869645213695")"#,
            ),
            ("2026-08-22", r#"Date("2026-08-22")"#),
            ("1.2.3", r#"Str("1.2.3")"#),
            ("0b_", "error: `0b_` has the form of a number but no digits"),
            ("0b2", r#"Str("0b2")"#),
            ("0x", r#"Str("0x")"#),
            ("=", r#"Str("=")"#),
        ];
        for (text, expected) in rows {
            assert_eq!(show(text), expected, "{text}");
        }
    }

    #[test]
    fn an_endless_number_is_refused_not_computed() {
        let text = "9".repeat(1_000_000);
        assert!(
            show(&text).starts_with("error: `999"),
            "{}",
            shorten(&show(&text))
        );
        assert!(show(&format!("1{}", ":59".repeat(100_000))).starts_with("error: `1:59"));
    }
}
