//! Against the results of `tests/golden/mfma/make_mfma.py`, bit for bit.

use std::path::Path;

use cairn_cdna::matrix::{Arch, Form, Lanes, Mfma, Mode, Modifiers, Scales, Sources};
use serde_json::Value;

use super::{plain, put, registers};

fn read(name: &str) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden/mfma");
    std::fs::read(folder.join(name)).unwrap()
}

fn table(name: &str) -> Vec<Value> {
    serde_json::from_slice(&read(name)).unwrap()
}

fn arch(entry: &Value) -> Arch {
    match entry["arch"].as_str().unwrap() {
        "gfx942" => Arch::Gfx942,
        "gfx950" => Arch::Gfx950,
        other => panic!("no architecture {other}"),
    }
}

#[test]
fn dot_products() {
    let mut cases = 0;
    for entry in table("dots.json") {
        let mfma = plain(entry["form"].as_str().unwrap(), arch(&entry));
        let [a_bits, b_bits] = mfma.elements().map(|element| element.bits());
        for case in entry["cases"].as_array().unwrap() {
            let text = |i: usize| case[i].as_str().unwrap();
            let hex = |text: &str| u32::from_str_radix(text, 16).unwrap();
            let mut a = registers(mfma.a_layout().registers());
            let mut b = registers(mfma.b_layout().registers());
            // A row and a column that are not the first.
            for (k, code) in text(0).split(' ').enumerate() {
                put(&mut a, mfma.a_layout().place(0, 5, k), a_bits, hex(code));
            }
            for (k, code) in text(1).split(' ').enumerate() {
                put(&mut b, mfma.b_layout().place(0, 9, k), b_bits, hex(code));
            }
            let place = mfma.d_layout().place(0, 5, 9);
            let mut c = registers(mfma.d_layout().registers());
            c[place.register][place.lane] = hex(text(2));
            let mut d = c.clone();
            let sources = Sources::dense(&a, &b);
            mfma.execute(Mode::Exact, &sources, &c, &mut d).unwrap();
            let found = d[place.register][place.lane];
            let (name, what) = (mfma.form().mnemonic, text(4));
            assert_eq!(
                found,
                hex(text(3)),
                "{name}: {what}: {case}, found {found:x}"
            );
            cases += 1;
        }
    }
    assert!(cases > 1000, "{cases}");
}

#[test]
fn whole_executions() {
    let blob = read("forms.bin");
    let words: Vec<u32> = blob
        .as_chunks::<4>()
        .0
        .iter()
        .map(|bytes| u32::from_le_bytes(*bytes))
        .collect();
    let mut all: &[Lanes] = words.as_chunks::<64>().0;
    let mut seen = std::collections::BTreeSet::new();
    for entry in table("forms.json") {
        let name = entry["form"].as_str().unwrap();
        let field = |key: &str| entry[key].as_u64().unwrap_or(0) as u8;
        let modifiers = Modifiers {
            cbsz: field("cbsz"),
            abid: field("abid"),
            blgp: field("blgp"),
        };
        let mut take = |key: &str| {
            let n = entry["operands"][key].as_u64().unwrap_or(0) as usize;
            let (taken, rest) = all.split_at(n);
            all = rest;
            taken
        };
        let (a, b) = (take("a"), take("b"));
        let index = take("index").first();
        let scales = [take("scale_a"), take("scale_b")];
        let (c, d) = (take("c"), take("d"));
        let form = Form::find(name).unwrap();
        let mfma = Mfma::new(form, arch(&entry), modifiers).unwrap();
        let scales = match scales {
            [[a], [b]] => Some([
                Scales {
                    lanes: a,
                    byte: field("byte_a"),
                },
                Scales {
                    lanes: b,
                    byte: field("byte_b"),
                },
            ]),
            _ => None,
        };
        let sources = Sources {
            a,
            b,
            index,
            scales,
        };
        let mut found = registers(d.len());
        mfma.execute(Mode::Exact, &sources, c, &mut found).unwrap();
        for (register, (found, expected)) in found.iter().zip(d).enumerate() {
            for lane in 0..64 {
                let element = mfma.d_layout().element(register, lane);
                assert_eq!(
                    found[lane], expected[lane],
                    "{name} {modifiers:?}: block, row, column {element:?}: {:x} {:x}",
                    found[lane], expected[lane]
                );
            }
        }
        let mut in_place = c.to_vec();
        mfma.accumulate(Mode::Exact, &sources, &mut in_place)
            .unwrap();
        assert_eq!(in_place, found);
        seen.insert(name.to_owned());
    }
    assert_eq!(all.len(), 0, "words that no form read");
    // A few pairings of 8-bit floats are left to the forms of the other shape.
    let missing: Vec<_> = Form::all()
        .iter()
        .map(|form| form.mnemonic)
        .filter(|name| !seen.contains(*name))
        .collect();
    assert_eq!(
        missing,
        [
            "v_smfmac_f32_32x32x32_fp8_fp8",
            "v_smfmac_f32_32x32x32_bf8_bf8",
            "v_smfmac_f32_32x32x64_fp8_fp8",
            "v_smfmac_f32_32x32x64_bf8_bf8"
        ]
    );
}
