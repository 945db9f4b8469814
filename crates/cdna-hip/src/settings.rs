//! What is simulated, as the environment says.

use cairn_base::env::{self, Var};
use cairn_cdna::{Checks, Mode, Options};
use cairn_codeobj::{Arch, Product};

/// Most devices.
const MAX_DEVICES: usize = 64;
/// Memory of a device where nothing else is said.
const MEMORY: u64 = 4 << 30;

/// What is simulated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Settings {
    /// What every device is.
    pub(crate) arch: Arch,
    /// How many there are.
    pub(crate) count: usize,
    /// Bytes of memory of each.
    pub(crate) memory: u64,
    /// How kernels are run.
    pub(crate) options: Options,
}

impl Settings {
    /// The figures of what is simulated.
    pub(crate) fn model(&self) -> Product {
        Product::of(self.arch)
    }

    /// From the environment, or what is wrong with it and what to write.
    pub(crate) fn read(get: impl Fn(&Var) -> Option<String>) -> Result<Self, String> {
        let Some(text) = get(&env::CAIRN_SIM) else {
            let what = "CAIRN_SIM is not set, so nothing is simulated; set CAIRN_SIM=gfx942:8 for eight devices";
            return Err(what.to_owned());
        };
        let (arch, count) = devices(&text)?;
        let memory = get(&env::CAIRN_SIM_MEMORY).map_or(Ok(MEMORY), |text| bytes(&text))?;
        let number = |var: &Var, otherwise: u64| match get(var) {
            None => Ok(otherwise),
            Some(text) => text
                .parse()
                .map_err(|_| format!("{} is `{text}`; write a number", var.name)),
        };
        let sample = number(&env::CAIRN_SIM_SAMPLE, 0)?;
        let checks = match get(&env::CAIRN_SIM_CHECKS).as_deref() {
            // What a sample leaves out was never written.
            None if sample > 0 => Checks::NONE,
            None | Some("default") => Checks::DEFAULT,
            Some("all") => Checks::ALL,
            Some("none") => Checks::NONE,
            Some(other) => {
                return Err(format!(
                    "CAIRN_SIM_CHECKS is `{other}`; write default, all or none"
                ));
            }
        };
        let cores = std::thread::available_parallelism().map_or(1, usize::from) as u64;
        let options = Options {
            checks,
            seed: number(&env::CAIRN_SIM_SEED, 0)?,
            threads: number(&env::CAIRN_THREADS, cores)?.clamp(1, 1024) as usize,
            // A sample is run for the times of events alone.
            count_conflicts: sample > 0,
            matrix: if sample > 0 { Mode::Fast } else { Mode::Exact },
            sample,
            ..Options::default()
        };
        Ok(Self {
            arch,
            count,
            memory,
            options,
        })
    }
}

/// `gfx942:8`, or `gfx942` for one device.
fn devices(text: &str) -> Result<(Arch, usize), String> {
    let wrong = |what: String| {
        format!(
            "CAIRN_SIM is `{text}`: {what}; write an architecture and a number of devices, as in CAIRN_SIM=gfx942:8"
        )
    };
    let (name, count) = text.split_once(':').unwrap_or((text, "1"));
    let arch = Arch::from_name(name)
        .filter(|arch| matches!(arch, Arch::Gfx942 | Arch::Gfx950))
        .ok_or_else(|| wrong(format!("`{name}` is not simulated, gfx942 and gfx950 are")))?;
    let count = count
        .parse()
        .ok()
        .filter(|count| (1..=MAX_DEVICES).contains(count))
        .ok_or_else(|| wrong(format!("`{count}` is no number from 1 to {MAX_DEVICES}")))?;
    Ok((arch, count))
}

/// `8G`, `512M`, or bytes.
fn bytes(text: &str) -> Result<u64, String> {
    let (number, unit) = match text.strip_suffix(['K', 'M', 'G', 'T']) {
        Some(number) => (number, text.chars().last()),
        None => (text, None),
    };
    let shift = match unit {
        Some('K') => 10,
        Some('M') => 20,
        Some('G') => 30,
        Some('T') => 40,
        _ => 0,
    };
    number
        .parse::<u64>()
        .ok()
        .and_then(|number| number.checked_mul(1 << shift))
        .filter(|bytes| (1 << 20..=1 << 40).contains(bytes))
        .ok_or_else(|| {
            format!("CAIRN_SIM_MEMORY is `{text}`; write from 1M to 1T for each device, as in CAIRN_SIM_MEMORY=8G")
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(pairs: &[(&str, &str)]) -> Result<Settings, String> {
        Settings::read(|var| {
            let found = pairs.iter().find(|(name, _)| *name == var.name);
            found.map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn devices_and_memory_are_read() {
        let one = read(&[("CAIRN_SIM", "gfx950")]).unwrap();
        assert_eq!((one.arch, one.count, one.memory), (Arch::Gfx950, 1, MEMORY));
        let eight = read(&[
            ("CAIRN_SIM", "gfx942:8"),
            ("CAIRN_SIM_MEMORY", "192G"),
            ("CAIRN_SIM_CHECKS", "all"),
            ("CAIRN_SIM_SEED", "7"),
            ("CAIRN_THREADS", "3"),
        ]);
        let eight = eight.unwrap();
        assert_eq!(
            (eight.arch, eight.count, eight.memory),
            (Arch::Gfx942, 8, 192 << 30)
        );
        assert_eq!(eight.options.checks, Checks::ALL);
        assert_eq!((eight.options.seed, eight.options.threads), (7, 3));
        assert_eq!(bytes("1048576"), Ok(1 << 20));
        let sampled = read(&[("CAIRN_SIM", "gfx942"), ("CAIRN_SIM_SAMPLE", "16")]);
        let sampled = sampled.unwrap().options;
        assert_eq!((sampled.sample, sampled.checks), (16, Checks::NONE));
    }

    #[test]
    fn what_is_wrong_is_told_with_what_to_write() {
        let said = |pairs: &[(&str, &str)]| read(pairs).unwrap_err();
        assert!(said(&[]).contains("set CAIRN_SIM=gfx942:8"));
        for wrong in [
            "gfx941:8",
            "gfx90a:1",
            "gfx942:0",
            "gfx942:x",
            "gfx942:",
            "gfx942:65",
            ":8",
        ] {
            let said = said(&[("CAIRN_SIM", wrong)]);
            assert!(
                said.starts_with(&format!("CAIRN_SIM is `{wrong}`: ")),
                "{said}"
            );
            assert!(said.contains("as in CAIRN_SIM=gfx942:8"), "{said}");
        }
        for (name, wrong, next) in [
            ("CAIRN_SIM_MEMORY", "8g", "CAIRN_SIM_MEMORY=8G"),
            ("CAIRN_SIM_MEMORY", "99999999T", "CAIRN_SIM_MEMORY=8G"),
            ("CAIRN_SIM_MEMORY", "1", "CAIRN_SIM_MEMORY=8G"),
            ("CAIRN_SIM_CHECKS", "some", "default, all or none"),
            ("CAIRN_SIM_SEED", "x", "a number"),
            ("CAIRN_SIM_SAMPLE", "-1", "a number"),
        ] {
            let said = said(&[("CAIRN_SIM", "gfx942"), (name, wrong)]);
            assert!(said.contains(wrong) && said.contains(next), "{said}");
        }
    }
}
