//! Random sequences of instructions against the oracle, which computes one
//! lane at a time; and random bytes in place of code objects and instructions.

use std::path::Path;

use cairn_base::Exec;
use cairn_cdna::{Checks, Launch, Loaded, Memory, Options, Program};
use cairn_codeobj::Arch;
use cairn_codeobj::isa::{self, Family, INLINE_FLOATS, Info, Kind, OPERATIONS, Op, Operand};

use crate::oracle;
use crate::support::has_compiler;

mod forms;
mod memory;

/// Instructions of a sequence.
const LENGTH: usize = 16;
/// Sequences, when `PROPTEST_CASES` does not say how many.
const SEQUENCES: u64 = 2000;

/// Numbers that look random.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let x = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ x >> 31
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }

    /// Bits as programs have them: any, small numbers, floats of all kinds.
    fn word(&mut self) -> u32 {
        const SPECIAL: [u32; 16] = [
            0,
            1,
            u32::MAX,
            0x8000_0000,
            0x7fff_ffff,
            0x3f80_0000,
            0xbf80_0000,
            0x7f80_0000,
            0xff80_0000,
            0x7fc0_0000,
            0x7f80_0001,
            0x0000_0007,
            0x807f_ffff,
            0x7f7f_ffff,
            0x3c00_7c01,
            0xfc00_0400,
        ];
        let bits = self.next() as u32;
        match self.below(6) {
            0 => SPECIAL[bits as usize % 16],
            1 => bits % 64,
            2 => bits & 0x807f_ffff | (120 + bits % 16) << 23,
            3 => bits & 0x83ff_83ff | 0x3c00_3800,
            _ => bits,
        }
    }
}

/// The registers of a wave, and memory.
#[derive(Clone, PartialEq)]
struct State {
    v: Vec<[u32; 64]>,
    s: [u32; 32],
    vcc: u64,
    exec: u64,
    scc: bool,
    memory: Vec<u8>,
    lds: Vec<u8>,
}

impl State {
    fn random(random: &mut Random) -> Self {
        let mut s = [0; 32];
        s[16..].fill_with(|| random.word());
        let vcc = u64::from(s[16]) | u64::from(s[17]) << 32;
        Self {
            v: (0..17)
                .map(|_| std::array::from_fn(|_| random.word()))
                .collect(),
            s,
            vcc,
            exec: u64::MAX,
            scc: true,
            memory: (0..memory::BYTES).map(|_| random.next() as u8).collect(),
            lds: (0..memory::BYTES).map(|_| random.next() as u8).collect(),
        }
    }

    fn pair(&self, at: usize) -> u64 {
        if at == 106 {
            self.vcc
        } else {
            u64::from(self.s[at]) | u64::from(self.s[at + 1]) << 32
        }
    }

    fn set_pair(&mut self, at: usize, value: u64) {
        if at == 106 {
            self.vcc = value;
        } else {
            self.s[at] = value as u32;
            self.s[at + 1] = (value >> 32) as u32;
        }
    }

    fn read(&self, operand: Operand, kind: Kind, lane: usize) -> u64 {
        let wide = kind.dwords() == 2;
        if let Some(at) = operand.vector_index() {
            let high = if wide { self.v[at + 1][lane] } else { 0 };
            return u64::from(self.v[at][lane]) | u64::from(high) << 32;
        }
        if operand.0 < 128 {
            let at = usize::from(operand.0);
            return if wide {
                self.pair(at)
            } else {
                self.s[at].into()
            };
        }
        if let Some(value) = operand.inline_int() {
            let value = i64::from(value) as u64;
            return if wide { value } else { value & 0xffff_ffff };
        }
        let (half, single, double, _) = INLINE_FLOATS[operand.inline_float().unwrap()];
        match kind {
            Kind::F16 => half.into(),
            Kind::F64 | Kind::B64 => double,
            _ => single.into(),
        }
    }
}

/// Operations that the oracle knows.
fn candidates() -> Vec<&'static Info> {
    let known = |info: &&Info| match info.family {
        Family::Vop1 | Family::Vop2 | Family::Vop3 => {
            oracle::lane(info.op, 0, 0, 0, false, 0).is_some()
        }
        Family::Sop2 | Family::Sopc => oracle::scalar(info.op, 0, 0, false).is_some(),
        Family::Vopc => info.op == Op::V_CMP,
        _ => false,
    };
    OPERATIONS.iter().filter(known).collect()
}

fn operand(random: &mut Random, kind: Kind, scalar_left: &mut bool) -> Operand {
    let wide = kind.dwords() == 2;
    let step = if wide { 2 } else { 1 };
    match random.below(5) {
        0 if *scalar_left => {
            *scalar_left = false;
            Operand(16 + (random.below(16 / step) * step) as u16)
        }
        1 if kind == Kind::I16 => Operand(128 + random.below(65) as u16),
        1 if random.below(2) == 0 => Operand(128 + random.below(81) as u16),
        1 => Operand(240 + random.below(9) as u16),
        _ if wide => Operand::vgpr(2 + 2 * random.below(7) as u16),
        _ => Operand::vgpr(1 + random.below(16) as u16),
    }
}

/// What sequences are made of.
struct Choices {
    plain: Vec<&'static Info>,
    /// Those that can take DPP.
    dpp: Vec<&'static Info>,
    /// Those that can take SDWA.
    sdwa: Vec<&'static Info>,
    packed: Vec<&'static Info>,
}

impl Choices {
    fn new() -> Self {
        let plain = candidates();
        let takes = |info: &&&Info| forms::takes_forms(info);
        let dpp: Vec<_> = plain.iter().filter(takes).copied().collect();
        Self {
            sdwa: dpp
                .iter()
                .filter(|info| !info.reads_result)
                .copied()
                .collect(),
            dpp,
            packed: forms::packed_operations(),
            plain,
        }
    }
}

/// The words of the next instruction, and what it makes of a state.
fn next(random: &mut Random, choices: &Choices, state: &mut State) -> Vec<u32> {
    let pick = |random: &mut Random, list: &[&'static Info]| {
        list[random.below(list.len() as u64) as usize]
    };
    match random.below(12) {
        0 => {
            // s_mov_b64 exec: some lanes, or all of them.
            let source = if random.below(3) == 0 {
                Operand(193)
            } else {
                Operand(16 + 2 * random.below(8) as u16)
            };
            state.exec = state.read(source, Kind::B64, 0);
            vec![0b1_0111_1101 << 23 | 126 << 16 | 1 << 8 | u32::from(source.0)]
        }
        1 => {
            let info = pick(random, &choices.dpp);
            forms::dpp(random, info, state)
        }
        2 => {
            let info = pick(random, &choices.sdwa);
            forms::sdwa(random, info, state)
        }
        3 | 4 => {
            let info = pick(random, &choices.packed);
            forms::packed(random, info, state)
        }
        5 | 6 => memory::instruction(random, state),
        _ => {
            let info = pick(random, &choices.plain);
            instruction(random, info, state)
        }
    }
}

/// One instruction: its words, and what it makes of a state.
fn instruction(random: &mut Random, info: &Info, state: &mut State) -> Vec<u32> {
    match info.family {
        Family::Sop2 | Family::Sopc => scalar_instruction(random, info, state),
        _ => vector_instruction(random, info, state),
    }
}

fn scalar_instruction(random: &mut Random, info: &Info, state: &mut State) -> Vec<u32> {
    let kinds = [0, 1].map(|at| info.sig.source(at).unwrap());
    let sources = kinds.map(|kind| {
        let step = u64::from(kind.dwords());
        match random.below(4) {
            0 => Operand(128 + random.below(81) as u16),
            _ => Operand(16 + (random.below(16 / step) * step) as u16),
        }
    });
    let [a, b] = [0, 1].map(|at| state.read(sources[at], kinds[at], 0));
    let (value, scc) = oracle::scalar(info.op, a, b, state.scc).unwrap();
    let fields = u32::from(sources[0].0) | u32::from(sources[1].0) << 8;
    let code = u32::from(info.code);
    if let Some(scc) = scc {
        state.scc = scc;
    }
    let Some(kind) = info.sig.result(0) else {
        return vec![0b1_0111_1110 << 23 | code << 16 | fields];
    };
    let step = u64::from(kind.dwords());
    let to = 16 + (random.below(16 / step) * step) as usize;
    if step == 2 {
        state.set_pair(to, value);
    } else {
        state.s[to] = value as u32;
    }
    vec![0b10 << 30 | code << 23 | (to as u32) << 16 | fields]
}

fn vector_instruction(random: &mut Random, info: &Info, state: &mut State) -> Vec<u32> {
    let compares = info.family == Family::Vopc;
    // Types and relations of comparisons: those without a class.
    let code = if compares {
        let types = [0x20u8, 0x40, 0x60, 0xa0, 0xa8, 0xc0, 0xc8, 0xe0, 0xe8];
        let base = types[random.below(9) as usize];
        base + random.below(if base < 0xa0 { 16 } else { 8 }) as u8
    } else {
        0
    };
    let count = if compares { 2 } else { info.sig.sources() };
    let kind_of = |at: usize| match code {
        0 => info.sig.source(at).unwrap(),
        0x20..=0x2f => Kind::F16,
        0x40..=0x4f => Kind::F32,
        0x60..=0x6f => Kind::F64,
        0xa0..=0xaf => Kind::I16,
        0xe0..=0xef => Kind::B64,
        _ => Kind::B32,
    };
    let mut scalar_left = true;
    let mut sources = [Operand(0); 3];
    let (mut abs, mut neg) = (0u32, 0u32);
    for at in 0..count {
        if kind_of(at) == Kind::Mask {
            sources[at] = Operand(if random.below(2) == 0 {
                106
            } else {
                16 + 2 * random.below(8) as u16
            });
            continue;
        }
        if (0..count).any(|at| kind_of(at) == Kind::Mask) {
            scalar_left = false;
        }
        sources[at] = operand(random, kind_of(at), &mut scalar_left);
        if matches!(kind_of(at), Kind::F32 | Kind::F64) && random.below(4) == 0 {
            abs |= (random.below(2) as u32) << at;
            neg |= (random.below(2) as u32) << at;
        }
    }
    let result = info.sig.result(0).unwrap_or(Kind::Mask);
    let wide = result.dwords() == 2 && !compares;
    let to = if wide {
        2 + 2 * random.below(7) as usize
    } else {
        1 + random.below(16) as usize
    };
    let mask_to = if random.below(2) == 0 {
        106
    } else {
        16 + 2 * random.below(8) as usize
    };
    let before = state.clone();
    let mut made = 0u64;
    for lane in (0..64).filter(|lane| before.exec >> lane & 1 == 1) {
        let mut given = [0u64; 3];
        let mut carry = false;
        for at in 0..count {
            if kind_of(at) == Kind::Mask {
                carry = before.pair(usize::from(sources[at].0)) >> lane & 1 == 1;
                continue;
            }
            let sign = if kind_of(at) == Kind::F64 {
                1u64 << 63
            } else {
                1 << 31
            };
            given[at] = before.read(sources[at], kind_of(at), lane);
            if abs >> at & 1 == 1 {
                given[at] &= !sign;
            }
            if neg >> at & 1 == 1 {
                given[at] ^= sign;
            }
        }
        if info.reads_result {
            given[2] = before.v[to][lane].into();
        }
        let [a, b, c] = given;
        if compares {
            made |= u64::from(oracle::compare(code, a, b).unwrap()) << lane;
            continue;
        }
        let (value, bit) = oracle::lane(info.op, a, b, c, carry, lane as u32).unwrap();
        state.v[to][lane] = value as u32;
        if wide {
            state.v[to + 1][lane] = (value >> 32) as u32;
        }
        made |= u64::from(bit.unwrap_or(false)) << lane;
    }
    let second = info.sig.result(1).is_some();
    if compares || second {
        state.set_pair(mask_to, made);
    }
    let opcode = match info.family {
        Family::Vopc => u32::from(code),
        Family::Vop1 => u32::from(info.code) + 0x140,
        Family::Vop2 => u32::from(info.code) + 0x100,
        _ => u32::from(info.code),
    };
    let fields = |at: usize| u32::from(sources[at].0) << (9 * at);
    let short = abs | neg == 0
        && !second
        && count <= 2
        && !compares
        && sources[1..count].iter().all(|x| x.is_vector());
    if short && info.family == Family::Vop1 {
        return vec![0b11_1111 << 25 | (to as u32) << 17 | u32::from(info.code) << 9 | fields(0)];
    }
    if short && info.family == Family::Vop2 {
        let second = u32::from(sources[1].0 - 256) << 9;
        return vec![u32::from(info.code) << 25 | (to as u32) << 17 | second | fields(0)];
    }
    let mut low =
        0b11_0100 << 26 | opcode << 16 | if compares { mask_to as u32 } else { to as u32 };
    low |= if second {
        (mask_to as u32) << 8
    } else {
        abs << 8
    };
    vec![low, fields(0) | fields(1) | fields(2) | neg << 29]
}

fn object() -> Vec<u8> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/sources/fuzz.s");
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join("fuzz.hsaco");
    Exec::new("clang-22")
        .args([
            "-x",
            "assembler",
            "-target",
            "amdgcn-amd-amdhsa",
            "-mcpu=gfx942",
            "-o",
        ])
        .arg(&out)
        .arg(&source)
        .output()
        .unwrap();
    std::fs::read(out).unwrap()
}

/// Where the instructions go: 64 times `s_nop 9`.
fn hole(bytes: &[u8]) -> usize {
    let nop = 0xbf80_0009u32.to_le_bytes();
    bytes
        .windows(256)
        .position(|run| run.chunks(4).all(|word| word == nop))
        .unwrap()
}

/// Runs a code object from a state and gives the state at its end.
fn execute(bytes: &[u8], state: &State) -> State {
    let mut memory = Memory::new(1 << 20, 1);
    let loaded = Loaded::new(bytes, &mut memory).unwrap();
    let program = Program::new(&loaded.object, "fuzz").unwrap();
    let input = memory.allocate(0x2000, "input").unwrap();
    let output = memory.allocate(0x3000, "output").unwrap();
    let mut put = |bytes: &[u8], name: &str| {
        let address = memory.allocate(bytes.len() as u64, name).unwrap();
        memory.write(address, bytes).unwrap();
        address
    };
    let (piece, lds) = (put(&state.memory, "memory"), put(&state.lds, "LDS"));
    let words = |words: &[u32]| {
        words
            .iter()
            .flat_map(|word| word.to_le_bytes())
            .collect::<Vec<u8>>()
    };
    for register in 1..17u64 {
        let content = words(&state.v[register as usize]);
        memory
            .write(input + 256 * (register - 1), &content)
            .unwrap();
    }
    memory
        .write(input + 0x1800, &words(&state.s[16..]))
        .unwrap();
    let arguments: Vec<u8> = [input + 0x800, output + 0x800, piece, lds]
        .into_iter()
        .flat_map(u64::to_le_bytes)
        .collect();
    let launch = Launch {
        loaded: &loaded,
        program: &program,
        grid: [1; 3],
        workgroup: [64, 1, 1],
        dynamic_lds: 0,
        arguments: &arguments,
    };
    let options = Options {
        checks: Checks::DEFAULT,
        ..Options::default()
    };
    let report = launch.run(&mut memory, &options).unwrap();
    assert!(report.findings.is_empty(), "{:?}", report.findings);
    let read = |at: u64| -> [u32; 64] {
        let bytes = memory.read(output + at, 256).unwrap();
        std::array::from_fn(|lane| {
            u32::from_le_bytes(bytes[4 * lane..4 * lane + 4].try_into().unwrap())
        })
    };
    let mut end = state.clone();
    for register in 1..17u64 {
        end.v[register as usize] = read(256 * (register - 1));
    }
    for register in 0..16u64 {
        end.s[16 + register as usize] = read(0x1000 + 256 * register)[0];
    }
    end.vcc = u64::from(read(0x2800)[0]) | u64::from(read(0x2900)[0]) << 32;
    end.exec = u64::from(read(0x2b00)[0]) | u64::from(read(0x2c00)[0]) << 32;
    end.scc = read(0x2a00)[0] == 1;
    end.memory = memory.read(piece, memory::BYTES as u64).unwrap();
    end.lds = memory.read(lds, memory::BYTES as u64).unwrap();
    end
}

/// Where two states differ.
fn difference(got: &State, wanted: &State) -> String {
    let mut what = String::new();
    for register in 1..17 {
        for lane in 0..64 {
            let (x, y) = (got.v[register][lane], wanted.v[register][lane]);
            if x != y && what.len() < 600 {
                what.push_str(&format!("v{register} lane {lane}: {x:#x}, oracle {y:#x}; "));
            }
        }
    }
    for register in 16..32 {
        let (x, y) = (got.s[register], wanted.s[register]);
        if x != y {
            what.push_str(&format!("s{register}: {x:#x}, oracle {y:#x}; "));
        }
    }
    for (name, x, y) in [
        ("memory", &got.memory, &wanted.memory),
        ("LDS", &got.lds, &wanted.lds),
    ] {
        if let Some(at) = (0..memory::BYTES).find(|at| x[*at] != y[*at]) {
            let (x, y) = (x[at], y[at]);
            what.push_str(&format!("{name} at {at:#x}: {x:#x}, oracle {y:#x}; "));
        }
    }
    what.push_str(&format!(
        "vcc {:#x} {:#x}, exec {:#x} {:#x}, scc {} {}",
        got.vcc, wanted.vcc, got.exec, wanted.exec, got.scc, wanted.scc
    ));
    what
}

/// Plain operations, DPP, SDWA, packed halves, memory, LDS and partial EXEC,
/// 16 instructions a sequence. `PROPTEST_CASES` asks for more sequences and
/// `PROPTEST_RNG_SEED` for others.
#[test]
fn random_sequences_agree_with_the_oracle() {
    if !has_compiler() {
        return;
    }
    let number = |name: &str| std::env::var(name).ok()?.parse::<u64>().ok();
    let first = number("PROPTEST_RNG_SEED").unwrap_or(0);
    let sequences = number("PROPTEST_CASES").unwrap_or(SEQUENCES);
    let clean = object();
    let hole = hole(&clean);
    let choices = Choices::new();
    let counts = [&choices.plain, &choices.dpp, &choices.sdwa, &choices.packed].map(Vec::len);
    assert!(
        counts
            .iter()
            .zip([120, 39, 38, 21])
            .all(|(count, least)| *count > least),
        "{counts:?}"
    );
    for sequence in 0..sequences {
        let mut random = Random(first << 32 | sequence);
        let start = State::random(&mut random);
        let mut wanted = start.clone();
        let mut bytes = clean.clone();
        let mut at = hole;
        let mut listing = Vec::new();
        for _ in 0..LENGTH {
            let words = next(&mut random, &choices, &mut wanted);
            let code: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
            bytes[at..at + code.len()].copy_from_slice(&code);
            let end = at + code.len();
            while at < end {
                let inst = isa::decode(&bytes[at..end], Arch::Gfx942).unwrap();
                at += usize::from(inst.size);
                listing.push(inst.to_string());
            }
        }
        let got = execute(&bytes, &start);
        if got != wanted {
            let what = difference(&got, &wanted);
            panic!(
                "seed {first}, sequence {sequence}: {what}\n{}",
                listing.join("\n")
            );
        }
    }
}

#[test]
fn random_bytes_neither_panic_nor_hang() {
    let mut random = Random(99);
    for arch in [Arch::Gfx942, Arch::Gfx950] {
        for _ in 0..200_000 {
            let bytes: Vec<u8> = (0..random.below(20)).map(|_| random.next() as u8).collect();
            if let Ok(inst) = isa::decode(&bytes, arch) {
                assert!(usize::from(inst.size) <= bytes.len());
                assert!(!inst.to_string().is_empty());
                assert!(inst.uses().reads().len() <= 6);
            }
        }
    }
    if !has_compiler() {
        return;
    }
    // Random code runs into a finding or ends; the budget stops the rest.
    let clean = object();
    let hole = hole(&clean);
    let state = State::random(&mut random);
    for _ in 0..300 {
        let mut bytes = clean.clone();
        for place in &mut bytes[hole..hole + 256] {
            *place = random.next() as u8;
        }
        let mut memory = Memory::new(1 << 20, 1);
        let loaded = Loaded::new(&bytes, &mut memory).unwrap();
        let Ok(program) = Program::new(&loaded.object, "fuzz") else {
            continue;
        };
        let input = memory.allocate(0x4000, "input").unwrap();
        memory.write(input, &state.s[16].to_le_bytes()).unwrap();
        let arguments: Vec<u8> = [input + 0x800; 4]
            .into_iter()
            .flat_map(u64::to_le_bytes)
            .collect();
        let launch = Launch {
            loaded: &loaded,
            program: &program,
            grid: [2, 1, 1],
            workgroup: [64, 1, 1],
            dynamic_lds: 0,
            arguments: &arguments,
        };
        let options = Options {
            budget: 10_000,
            checks: Checks::ALL,
            ..Options::default()
        };
        let report = launch.run(&mut memory, &options).unwrap();
        assert!(report.counters.instructions() <= 40_000);
    }
}
