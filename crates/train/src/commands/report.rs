//! `report`: a run as one HTML page.

use cairn_base::Diagnostic;
use cairn_launch::request::Report;

use super::Context;
use crate::error::TrainError;
use crate::metrics::METRICS_NAME;

/// Writes the page and prints where.
///
/// # Errors
/// When the run directory cannot be read or the page not written.
pub fn run(context: &Context, request: &Report) -> Result<u8, TrainError> {
    if !request.run_dir.join(METRICS_NAME).exists() {
        let message = format!(
            "{} holds no run: it has no {METRICS_NAME}",
            request.run_dir.display()
        );
        let diagnostic = Diagnostic::error("report::no-run", message)
            .hint("name a run directory: `<workspace>/<work_group>/<user_name>/<exp_name>`");
        return Err(Box::new(diagnostic).into());
    }
    let path = crate::report::write(&request.run_dir, request.output.as_deref())?;
    context.answer(&serde_json::json!({ "report": path }), |_| {
        path.display().to_string()
    })?;
    Ok(0)
}
