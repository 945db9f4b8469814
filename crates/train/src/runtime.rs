//! The life of a run, the same for every backend.
//!
//! Environment and logging are up when [`Runtime::run`] begins; then, in this
//! order: prepare, convert, `build_args` patches, trainer, `setup` patches,
//! `setup`, `init`, `before_train` patches, `train`, `after_train` patches,
//! `cleanup`. Cleanup runs after an error too.

use crate::console;
use crate::error::TrainError;

/// Where a patch takes hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// After the experiment was converted to the backend's arguments.
    BuildArgs,
    /// Before the trainer sets up.
    Setup,
    /// Before the first step.
    BeforeTrain,
    /// After the last step.
    AfterTrain,
}

/// Something done to a backend's arguments in one phase.
#[derive(Debug)]
pub struct Patch<A> {
    /// Unique name.
    pub id: &'static str,
    /// When.
    pub phase: Phase,
    /// Lower comes first; equal ones in order of registration.
    pub priority: i32,
    /// Whether it applies to these arguments.
    pub applies: fn(&A) -> bool,
    /// What it does.
    pub apply: fn(&mut A) -> Result<(), TrainError>,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// All steps are done.
    Complete,
    /// A signal stopped it and a checkpoint was written.
    Stopped,
}

/// What trains: one per backend.
pub trait Trainer {
    /// What it was made from.
    type Args;

    /// What it was made from, for patches to change.
    fn args(&mut self) -> &mut Self::Args;

    /// Opens data, builds the model.
    ///
    /// # Errors
    /// When the experiment cannot be run.
    fn setup(&mut self) -> Result<(), TrainError>;

    /// Initialises or restores state.
    ///
    /// # Errors
    /// When a checkpoint does not fit.
    fn init(&mut self) -> Result<(), TrainError>;

    /// Trains to the end or to a signal.
    ///
    /// # Errors
    /// When a step fails.
    fn train(&mut self) -> Result<End, TrainError>;

    /// Closes what is open; `failed` after an error.
    ///
    /// # Errors
    /// When the last files cannot be written.
    fn cleanup(&mut self, failed: bool) -> Result<(), TrainError>;
}

/// A training backend: Cairn's own engine, or another project.
pub trait Adapter {
    /// What the backend's trainer is made from.
    type Args;
    /// The trainer.
    type Trainer: Trainer<Args = Self::Args>;

    /// Name, as in `framework:`.
    fn name(&self) -> &'static str;

    /// What must be there before arguments are made, such as folders.
    ///
    /// # Errors
    /// When it cannot be had.
    fn prepare(&self) -> Result<(), TrainError>;

    /// From the experiment to the backend's arguments.
    ///
    /// # Errors
    /// When the backend cannot do what the experiment says.
    fn convert(&self) -> Result<Self::Args, TrainError>;

    /// Patches of this backend.
    fn patches(&self) -> Vec<Patch<Self::Args>>;

    /// The trainer for these arguments.
    ///
    /// # Errors
    /// When it cannot be made.
    fn trainer(&self, args: Self::Args) -> Result<Self::Trainer, TrainError>;
}

/// Runs one adapter through its life.
#[derive(Debug)]
pub struct Runtime<A> {
    adapter: A,
}

impl<A: Adapter> Runtime<A> {
    /// A runtime for this backend.
    #[must_use]
    pub fn new(adapter: A) -> Self {
        Self { adapter }
    }

    /// From preparation to cleanup.
    ///
    /// # Errors
    /// The first error; cleanup has run then.
    pub fn run(&self) -> Result<End, TrainError> {
        self.adapter.prepare()?;
        let mut args = self.adapter.convert()?;
        let mut patches = self.adapter.patches();
        patches.sort_by_key(|patch| patch.priority);
        let apply = |phase: Phase, args: &mut A::Args| -> Result<(), TrainError> {
            for patch in patches.iter().filter(|patch| patch.phase == phase) {
                if (patch.applies)(args) {
                    console::line(&format!(
                        "patch `{}` applied to {}",
                        patch.id,
                        self.adapter.name()
                    ));
                    (patch.apply)(args)?;
                }
            }
            Ok(())
        };
        apply(Phase::BuildArgs, &mut args)?;
        let mut trainer = self.adapter.trainer(args)?;
        let result: Result<End, TrainError> = (|| {
            apply(Phase::Setup, trainer.args())?;
            trainer.setup()?;
            trainer.init()?;
            apply(Phase::BeforeTrain, trainer.args())?;
            let end = trainer.train()?;
            apply(Phase::AfterTrain, trainer.args())?;
            Ok(end)
        })();
        let closed = trainer.cleanup(result.is_err());
        let end = result?;
        closed.map(|()| end)
    }
}
