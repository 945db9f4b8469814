//! The part of MessagePack that metadata is written in. Nothing is allocated
//! by a length that the input only claims, and nesting is bounded.

use crate::bytes::slice;

/// Deepest nesting; metadata has five levels.
const MAX_DEPTH: u32 = 32;

/// A value. Keys of maps are strings, and stay in their order.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Nil,
    Bool(bool),
    Integer(i128),
    Float(f64),
    Text(String),
    Binary,
    List(Vec<Value>),
    Map(Vec<(String, Value)>),
}

impl Value {
    /// The value of a key; `None` when this is no map or has none.
    pub(crate) fn get(&self, key: &str) -> Option<&Self> {
        match self {
            Self::Map(entries) => entries
                .iter()
                .find(|(name, _)| name == key)
                .map(|(_, value)| value),
            _ => None,
        }
    }

    pub(crate) fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    pub(crate) fn list(&self) -> Option<&[Self]> {
        match self {
            Self::List(items) => Some(items),
            _ => None,
        }
    }

    pub(crate) fn u32(&self) -> Option<u32> {
        match self {
            Self::Integer(value) => u32::try_from(*value).ok(),
            _ => None,
        }
    }

    /// A flag, which some compilers write as a number.
    pub(crate) fn flag(&self) -> Option<bool> {
        match self {
            Self::Bool(value) => Some(*value),
            Self::Integer(value) => Some(*value != 0),
            _ => None,
        }
    }
}

/// Reads one value.
pub(crate) fn parse(bytes: &[u8]) -> Result<Value, String> {
    let mut reader = Reader { bytes, at: 0 };
    reader.value(0)
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: u64,
}

impl<'a> Reader<'a> {
    fn take(&mut self, count: u64) -> Result<&'a [u8], String> {
        let taken = slice(self.bytes, self.at, count)
            .ok_or_else(|| format!("it ends early, at byte {}", self.bytes.len()))?;
        self.at += count;
        Ok(taken)
    }

    /// A big-endian number of 1, 2, 4 or 8 bytes.
    fn number(&mut self, count: u64) -> Result<u64, String> {
        Ok(self
            .take(count)?
            .iter()
            .fold(0, |value, byte| value << 8 | u64::from(*byte)))
    }

    fn signed(&mut self, count: u64) -> Result<Value, String> {
        let unused = 64 - 8 * count as u32;
        let value = ((self.number(count)? << unused) as i64) >> unused;
        Ok(Value::Integer(value.into()))
    }

    fn unsigned(&mut self, count: u64) -> Result<Value, String> {
        Ok(Value::Integer(self.number(count)?.into()))
    }

    fn text(&mut self, length: u64) -> Result<Value, String> {
        let bytes = self.take(length)?;
        let text = std::str::from_utf8(bytes).map_err(|_| "a text is not UTF-8".to_owned())?;
        Ok(Value::Text(text.to_owned()))
    }

    fn list(&mut self, count: u64, depth: u32) -> Result<Value, String> {
        let mut items = Vec::new();
        for _ in 0..count {
            items.push(self.value(depth + 1)?);
        }
        Ok(Value::List(items))
    }

    fn map(&mut self, count: u64, depth: u32) -> Result<Value, String> {
        let mut entries = Vec::new();
        for _ in 0..count {
            let Value::Text(key) = self.value(depth + 1)? else {
                return Err("a key is no text".to_owned());
            };
            entries.push((key, self.value(depth + 1)?));
        }
        Ok(Value::Map(entries))
    }

    fn binary(&mut self, length: u64) -> Result<Value, String> {
        self.take(length)?;
        Ok(Value::Binary)
    }

    fn value(&mut self, depth: u32) -> Result<Value, String> {
        if depth > MAX_DEPTH {
            return Err(format!("it is nested deeper than {MAX_DEPTH}"));
        }
        let tag = self.take(1)?[0];
        match tag {
            0x00..=0x7f => Ok(Value::Integer(tag.into())),
            0xe0..=0xff => Ok(Value::Integer((tag as i8).into())),
            0x80..=0x8f => self.map((tag & 15).into(), depth),
            0x90..=0x9f => self.list((tag & 15).into(), depth),
            0xa0..=0xbf => self.text((tag & 31).into()),
            0xc0 => Ok(Value::Nil),
            0xc2 | 0xc3 => Ok(Value::Bool(tag == 0xc3)),
            0xca => Ok(Value::Float(f32::from_bits(self.number(4)? as u32).into())),
            0xcb => Ok(Value::Float(f64::from_bits(self.number(8)?))),
            0xc4..=0xc6 => {
                let length = self.number(1 << (tag - 0xc4))?;
                self.binary(length)
            }
            0xc7..=0xc9 => {
                let length = self.number(1 << (tag - 0xc7))?;
                self.binary(length + 1)
            }
            0xcc..=0xcf => self.unsigned(1 << (tag - 0xcc)),
            0xd0..=0xd3 => self.signed(1 << (tag - 0xd0)),
            0xd4..=0xd8 => self.binary((1 << (tag - 0xd4)) + 1),
            0xd9..=0xdb => {
                let length = self.number(1 << (tag - 0xd9))?;
                self.text(length)
            }
            0xdc | 0xdd => {
                let count = self.number(if tag == 0xdc { 2 } else { 4 })?;
                self.list(count, depth)
            }
            0xde | 0xdf => {
                let count = self.number(if tag == 0xde { 2 } else { 4 })?;
                self.map(count, depth)
            }
            0xc1 => Err("byte 0xc1 stands for nothing".to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_form_is_read() {
        let text = |text: &str| Value::Text(text.to_owned());
        // Encodings written down from the specification.
        for (bytes, expected) in [
            (&[0x05][..], Value::Integer(5)),
            (&[0xff], Value::Integer(-1)),
            (&[0xcc, 0xff], Value::Integer(255)),
            (&[0xcd, 1, 0], Value::Integer(256)),
            (&[0xce, 0, 1, 0, 0], Value::Integer(65536)),
            (
                &[0xcf, 255, 255, 255, 255, 255, 255, 255, 255],
                Value::Integer(u64::MAX.into()),
            ),
            (&[0xd0, 0x80], Value::Integer(-128)),
            (&[0xd1, 0xff, 0x00], Value::Integer(-256)),
            (
                &[0xd3, 255, 255, 255, 255, 255, 255, 255, 254],
                Value::Integer(-2),
            ),
            (&[0xc0], Value::Nil),
            (&[0xc3], Value::Bool(true)),
            (&[0xca, 0x3f, 0x80, 0, 0], Value::Float(1.0)),
            (&[0xa2, b'h', b'i'], text("hi")),
            (&[0xd9, 1, b'x'], text("x")),
            (&[0xda, 0, 1, b'x'], text("x")),
            (&[0xc4, 2, 0, 0], Value::Binary),
            (&[0xd4, 1, 0], Value::Binary),
            (&[0xc7, 1, 9, 0], Value::Binary),
            (
                &[0x92, 1, 2],
                Value::List(vec![Value::Integer(1), Value::Integer(2)]),
            ),
            (&[0xdc, 0, 1, 7], Value::List(vec![Value::Integer(7)])),
            (
                &[0x81, 0xa1, b'a', 1],
                Value::Map(vec![("a".to_owned(), Value::Integer(1))]),
            ),
            (
                &[0xde, 0, 1, 0xa1, b'a', 1],
                Value::Map(vec![("a".to_owned(), Value::Integer(1))]),
            ),
        ] {
            assert_eq!(parse(bytes), Ok(expected), "{bytes:x?}");
            assert!(parse(&bytes[..bytes.len() - 1]).is_err(), "{bytes:x?}");
        }
    }

    #[test]
    fn claims_and_nesting_are_bounded() {
        assert!(parse(&[0xdd, 255, 255, 255, 255, 1]).is_err());
        assert!(parse(&[0xdb, 255, 255, 255, 255, 1]).is_err());
        assert!(parse(&[0x91; 1000]).unwrap_err().contains("nested"));
        assert!(parse(&[0x81, 1, 1]).is_err());
        assert!(parse(&[0xc1]).is_err());
    }

    #[test]
    fn values_are_looked_up() {
        let map = parse(&[0x82, 0xa1, b'a', 0xcd, 1, 0, 0xa1, b'b', 0xc2]).unwrap();
        assert_eq!(map.get("a").and_then(Value::u32), Some(256));
        assert_eq!(map.get("b").and_then(Value::flag), Some(false));
        assert_eq!(map.get("c"), None);
        assert_eq!(Value::Integer(-1).u32(), None);
    }
}
