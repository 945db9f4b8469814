//! How much memory the process has used.

/// Peak resident memory of this process in bytes, by the operating system's
/// account (`VmHWM`); 0 where it keeps none.
#[must_use]
pub fn peak_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|rest| rest.split_whitespace().next()?.parse::<u64>().ok());
    kib.unwrap_or(0) * 1024
}
