//! `report`: a run as one HTML page.

use cairn_launch::request::Report;

use super::Context;
use crate::error::TrainError;

/// Writes the page and prints where.
///
/// # Errors
/// When the run directory cannot be read or the page not written.
pub fn run(context: &Context, request: &Report) -> Result<u8, TrainError> {
    let path = crate::report::write(&request.run_dir, request.output.as_deref())?;
    context.answer(&serde_json::json!({ "report": path }), |_| {
        path.display().to_string()
    })?;
    Ok(0)
}
