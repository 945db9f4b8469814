//! The one state of the library: its devices, and every object by its handle.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::ffi::c_int;
use std::sync::{Arc, Mutex, OnceLock};

use cairn_base::env;
use cairn_cdna::memory::Allocation;

use crate::device::Device;
use crate::error::{Code, Result, tell};
use crate::event::Event;
use crate::graph::{Capture, Executable, Graph};
use crate::handles::Table;
use crate::launch::Registered;
use crate::module::{Function, Module};
use crate::settings::Settings;
use crate::stream::Stream;

/// All there is.
#[derive(Debug)]
pub(crate) struct Runtime {
    pub(crate) settings: Settings,
    pub(crate) devices: Vec<Device>,
    /// Memory of the host that devices reach, by its address.
    pub(crate) host: Mutex<BTreeMap<u64, Arc<Allocation>>>,
    pub(crate) streams: Table<Stream>,
    pub(crate) events: Table<Event>,
    pub(crate) modules: Table<Module>,
    pub(crate) functions: Table<Function>,
    pub(crate) graphs: Table<Graph>,
    pub(crate) executables: Table<Executable>,
    /// The captures that go on.
    pub(crate) captures: Mutex<Vec<Arc<Capture>>>,
}

/// Kernels that programs have registered, which happens before there are devices.
pub(crate) static REGISTERED: Registered = Registered::new();

static RUNTIME: OnceLock<Option<Runtime>> = OnceLock::new();

thread_local! {
    static CURRENT: Cell<usize> = const { Cell::new(0) };
}

/// The runtime; `hipErrorNoDevice` where the environment gives no devices, which is told once.
pub(crate) fn get() -> Result<&'static Runtime> {
    let runtime = RUNTIME.get_or_init(|| match Settings::read(env::get) {
        Ok(settings) => Some(Runtime::new(settings)),
        Err(what) => {
            tell(what);
            None
        }
    });
    runtime.as_ref().ok_or(Code::NO_DEVICE)
}

/// The runtime if there is one already.
pub(crate) fn existing() -> Option<&'static Runtime> {
    RUNTIME.get()?.as_ref()
}

impl Runtime {
    fn new(settings: Settings) -> Self {
        Self {
            settings,
            devices: (0..settings.count)
                .map(|number| Device::new(number, &settings))
                .collect(),
            host: Mutex::default(),
            streams: Table::new(0xc1),
            events: Table::new(0xc2),
            modules: Table::new(0xc3),
            functions: Table::new(0xc4),
            graphs: Table::new(0xc5),
            executables: Table::new(0xc6),
            captures: Mutex::default(),
        }
    }

    /// The device of this number.
    pub(crate) fn device(&self, number: c_int) -> Result<&Device> {
        let found = usize::try_from(number)
            .ok()
            .and_then(|at| self.devices.get(at));
        found.ok_or(Code::INVALID_DEVICE)
    }

    /// This thread's device, whatever its state.
    pub(crate) fn chosen(&self) -> &Device {
        // What is chosen was checked.
        &self.devices[CURRENT.get()]
    }

    /// This thread's device, unless a fault has ended its use.
    pub(crate) fn current(&self) -> Result<&Device> {
        let device = self.chosen();
        device.usable()?;
        Ok(device)
    }

    /// Chooses this thread's device.
    pub(crate) fn choose(&self, number: c_int) -> Result {
        CURRENT.set(self.device(number)?.number);
        Ok(())
    }
}
