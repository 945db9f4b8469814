//! Arguments of a kernel as people write them: `u32:5`, `random:bf16:1024`, `words:1,2,3`.

use cairn_base::nearest;
use cairn_codeobj::Kernel;
use cairn_formats::{Philox, bf16_from_f32, f16_from_f32};

use super::{Failed, wrong};
use crate::memory::{Memory, MemoryError};

/// Arguments as the kernel wants them.
pub(super) struct Given {
    pub(super) bytes: Vec<u8>,
    /// Memory that was made for them: address and size.
    pub(super) buffers: Vec<(u64, u64)>,
}

const TYPES: [&str; 9] = [
    "f32", "f64", "bf16", "f16", "i32", "u32", "i64", "u64", "u8",
];
const FILLS: [&str; 5] = ["random", "zeros", "ones", "ramp", "blank"];

/// Lays the arguments out as the metadata of the kernel says.
pub(super) fn build(
    texts: &[String],
    kernel: &Kernel,
    memory: &mut Memory,
) -> Result<Given, Failed> {
    let wanted: Vec<_> = kernel
        .metadata
        .args
        .iter()
        .filter(|arg| !arg.kind.is_hidden())
        .collect();
    // Triton passes two pointers to scratch of its own, which may be null.
    if texts.len() > wanted.len() || texts.len() + 2 < wanted.len() {
        let message = format!(
            "{} arguments, and kernel `{}` takes {}",
            texts.len(),
            kernel.name,
            wanted.len()
        );
        return Err(wrong("sim::arguments", message, describe(&wanted)));
    }
    let size = wanted
        .iter()
        .map(|arg| (arg.offset + arg.size) as usize)
        .max()
        .unwrap_or(0);
    let mut given = Given {
        bytes: vec![0; size],
        buffers: Vec::new(),
    };
    for (at, (text, arg)) in texts.iter().zip(&wanted).enumerate() {
        let value = one(text, at, memory, &mut given.buffers)?;
        if value.len() != arg.size as usize {
            let message = format!(
                "argument {} is `{text}` of {} bytes, and the kernel takes {}",
                at + 1,
                value.len(),
                arg.size
            );
            return Err(wrong("sim::arguments", message, describe(&wanted)));
        }
        let offset = arg.offset as usize;
        given.bytes[offset..offset + value.len()].copy_from_slice(&value);
    }
    Ok(given)
}

fn describe(wanted: &[&cairn_codeobj::Argument]) -> String {
    let list: Vec<_> = wanted
        .iter()
        .enumerate()
        .map(|(at, arg)| {
            // Compilers leave names out unless they are asked for them.
            let number = format!("argument {}", at + 1);
            let name = arg.name.as_ref().unwrap_or(&number);
            format!("{name} ({} bytes, {})", arg.size, arg.kind.name())
        })
        .collect();
    format!("it takes {}", list.join(", "))
}

fn malformed(text: &str) -> Failed {
    wrong(
        "sim::arguments",
        format!("`{text}` is no argument"),
        "write a number as `u32:5`, or memory as `random:f32:1024`",
    )
}

fn one(
    text: &str,
    at: usize,
    memory: &mut Memory,
    buffers: &mut Vec<(u64, u64)>,
) -> Result<Vec<u8>, Failed> {
    let parts: Vec<_> = text.split(':').collect();
    match parts.as_slice() {
        ["null"] => Ok(vec![0; 8]),
        // A structure, as its words lie.
        ["words", words] => {
            let words = words.split(',').map(|word| number("u32", word));
            let words = words.collect::<Option<Vec<_>>>();
            Ok(words.ok_or_else(|| malformed(text))?.concat())
        }
        [kind, value] => number(kind, value).ok_or_else(|| malformed(text)),
        [fill, kind, count] => {
            for (word, known) in [(fill, &FILLS[..]), (kind, &TYPES[..])] {
                if !known.contains(word) {
                    let hint = match nearest(word, known.iter().copied()) {
                        Some(near) => format!("did you mean `{near}`?"),
                        None => format!("one of {}", known.join(", ")),
                    };
                    let message = format!("`{word}` in `{text}` is not known");
                    return Err(wrong("sim::arguments", message, hint));
                }
            }
            let count: usize = count.parse().map_err(|_| malformed(text))?;
            let width = number(kind, "0").map_or(4, |bytes| bytes.len());
            let bytes = (count as u64).saturating_mul(width as u64);
            let failed = |error: MemoryError| {
                let message = format!("argument {}, `{text}`: {error}", at + 1);
                wrong("sim::memory", message, "give it fewer elements")
            };
            let address = memory
                .allocate(bytes, &format!("argument {}", at + 1))
                .map_err(failed)?;
            buffers.push((address, bytes));
            if *fill != "blank" {
                let content = content(fill, kind, count, at as u64);
                memory.write(address, &content).map_err(failed)?;
            }
            Ok(address.to_le_bytes().to_vec())
        }
        _ => Err(malformed(text)),
    }
}

/// The bytes of a number of a type.
fn number(kind: &str, text: &str) -> Option<Vec<u8>> {
    Some(match kind {
        "f32" => text.parse::<f32>().ok()?.to_le_bytes().to_vec(),
        "f64" => text.parse::<f64>().ok()?.to_le_bytes().to_vec(),
        "i32" => text.parse::<i32>().ok()?.to_le_bytes().to_vec(),
        "u32" => text.parse::<u32>().ok()?.to_le_bytes().to_vec(),
        "i64" => text.parse::<i64>().ok()?.to_le_bytes().to_vec(),
        "u64" => text.parse::<u64>().ok()?.to_le_bytes().to_vec(),
        "u8" => text.parse::<u8>().ok()?.to_le_bytes().to_vec(),
        "bf16" => bf16_from_f32(text.parse().ok()?).to_le_bytes().to_vec(),
        "f16" => f16_from_f32(text.parse().ok()?).to_le_bytes().to_vec(),
        _ => return None,
    })
}

fn content(fill: &str, kind: &str, count: usize, seed: u64) -> Vec<u8> {
    let stream = Philox::new(seed).stream(0, 0);
    let integer = kind.starts_with(['i', 'u']);
    let mut bytes = Vec::new();
    for at in 0..count {
        let value = match fill {
            "ones" => 1.0,
            "ramp" => at as f64,
            "random" if integer => f64::from(stream.bits(at as u64) >> 8),
            "random" => f64::from(2.0 * stream.uniform(at as u64) - 1.0),
            _ => 0.0,
        };
        match kind {
            "f64" => bytes.extend(value.to_le_bytes()),
            "f32" => bytes.extend((value as f32).to_le_bytes()),
            "bf16" => bytes.extend(bf16_from_f32(value as f32).to_le_bytes()),
            "f16" => bytes.extend(f16_from_f32(value as f32).to_le_bytes()),
            "u8" => bytes.push(value as u64 as u8),
            "i64" | "u64" => bytes.extend((value as u64).to_le_bytes()),
            _ => bytes.extend((value as u64 as u32).to_le_bytes()),
        }
    }
    bytes
}
