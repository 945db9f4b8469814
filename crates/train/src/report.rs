//! The report of a run: one HTML page that needs nothing else, and its loss
//! curve as a picture.
//!
//! Everything is read from the run directory; what is missing is left out, and
//! damaged lines are counted, because a report is wanted most when a run went
//! wrong. All text from files is escaped.

mod chart;
mod format;
mod page;
mod points;
mod run;
mod scale;
mod summary;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use cairn_base::{FileError, files};

/// File of the page in the run directory.
pub const REPORT_NAME: &str = "report.html";
/// File of the loss curve in the run directory.
pub const LOSS_CURVE_NAME: &str = "loss.svg";
/// File of the resolved experiment in the run directory.
pub const EXPERIMENT_NAME: &str = "experiment.json";

/// Writes the page about `run_dir` to `output`, or to `report.html` in it, and
/// gives its path.
///
/// # Errors
/// When the run has no metrics file, or the page cannot be written.
pub fn write(run_dir: &Path, output: Option<&Path>) -> Result<PathBuf, FileError> {
    let path = output.map_or_else(|| run_dir.join(REPORT_NAME), Path::to_path_buf);
    files::write_atomic(&path, html(run_dir)?.as_bytes())?;
    Ok(path)
}

/// The page about `run_dir`.
///
/// # Errors
/// When the run has no metrics file.
pub fn html(run_dir: &Path) -> Result<String, FileError> {
    Ok(page::render(&run::Run::read(run_dir)?))
}

/// Writes the loss curve of `run_dir` to `loss.svg` in it and gives its path.
///
/// # Errors
/// When the run has no metrics file, or the picture cannot be written.
pub fn write_loss_curve(run_dir: &Path) -> Result<PathBuf, FileError> {
    let run = run::Run::read(run_dir)?;
    let path = run_dir.join(LOSS_CURVE_NAME);
    files::write_atomic(&path, page::loss_chart(&run).standalone().as_bytes())?;
    Ok(path)
}
