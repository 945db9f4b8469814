//! What is told of a launch that fails, and of a kernel that does.

use std::sync::Arc;

use cairn_graph::{Graph, Op};
use cairn_hip::{Arg, Gpu, Kernels};
use cairn_tensor::{
    Backend, DeviceArgs, DeviceMemory, Kernel, KernelError, Signature, Store, TensorError,
};

use crate::programs::{compile, looked_up_and_scaled, lookup, on_gpu};
use crate::support::{ARCHS, INSIDE, again, built, has_kernels, on_each, open, pool};

/// Launches a kernel without most of its arguments.
#[derive(Debug)]
struct Careless(Gpu);

impl Backend for Careless {
    fn name(&self) -> &str {
        "careless"
    }

    fn memory(&self) -> Option<Arc<dyn DeviceMemory>> {
        self.0.memory()
    }

    fn kernel(&self, _: &dyn Op, _: &Signature) -> Option<Box<dyn Kernel>> {
        Some(Box::new(Self(self.0.clone())))
    }
}

impl Kernel for Careless {
    fn name(&self) -> &str {
        "embedding_32"
    }

    fn launch(&self, args: &DeviceArgs<'_>) -> Result<(), KernelError> {
        let given = [Arg::Buffer(args.scratch)];
        self.0.kernels().launch("embedding_32", 1, &given)
    }
}

#[test]
fn a_launch_that_fails_names_operator_scope_shapes_and_kernel() {
    on_each(
        "errors::a_launch_that_fails_names_operator_scope_shapes_and_kernel",
        |gpu| {
            let (graph, mut store) = lookup([1, 2]);
            let mut program = compile(&graph, Careless(gpu.clone()), false);
            let error = program.run(&mut store, &pool()).unwrap_err();
            assert_eq!(
                error.to_string(),
                "`embedding` in `model.embed_tokens` (f32[8,300], i32[2] -> f32[2,300]) on kernel \
                 embedding_32 of careless: `embedding_32` takes 5 arguments, not 1"
            );
        },
    );
}

/// In a process of its own, as the device is of no use afterwards.
fn in_each(test: &str, body: impl Fn(&Gpu)) {
    if !has_kernels() {
        return;
    }
    if std::env::var_os(INSIDE).is_none() {
        for arch in ARCHS {
            again(test, &format!("{}:1", arch.name()), &[]);
        }
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let device = open(folder.path(), 0);
    body(&Gpu::new(
        Kernels::open(Arc::new(device), &built()).unwrap(),
    ));
}

/// Runs and reads: the error, and whether already the run found it.
fn fail(gpu: &Gpu, (graph, mut store): (Graph, Store), detect: bool) -> (TensorError, bool) {
    let mut program = on_gpu(&graph, gpu, detect);
    if let Err(error) = program.run(&mut store, &pool()) {
        return (error, true);
    }
    (program.output(&store, "rows").unwrap_err(), false)
}

const NODE: &str = "`embedding` in `model.embed_tokens` (f32[8,300], i32[2] -> f32[2,300]) on \
                    kernel embedding_32 of hip";

#[test]
fn a_fault_that_only_one_operator_can_have_is_told_with_it() {
    let test = "errors::a_fault_that_only_one_operator_can_have_is_told_with_it";
    in_each(test, |gpu| {
        let (error, early) = fail(gpu, lookup([1, 8]), false);
        let said = error.to_string();
        assert!(!early, "{said}");
        assert!(said.contains(" failed on device 0: "), "{said}");
        let of = format!("; only this was started since all was well: {NODE}");
        assert!(said.ends_with(&of), "{said}");
    });
}

#[test]
fn a_fault_of_one_of_many_says_how_to_find_it() {
    let test = "errors::a_fault_of_one_of_many_says_how_to_find_it";
    in_each(test, |gpu| {
        // A run that is well is not suspected.
        let (graph, mut store) = lookup([1, 7]);
        let mut well = on_gpu(&graph, gpu, false);
        well.run(&mut store, &pool()).unwrap();
        well.output(&store, "rows").unwrap();
        let (error, early) = fail(gpu, looked_up_and_scaled([1, -1]), false);
        let said = error.to_string();
        assert!(!early, "{said}");
        assert!(
            said.contains("4 operators were started since all was well"),
            "{said}"
        );
        assert!(said.contains("`detect_anomaly`"), "{said}");
    });
}

#[test]
fn waiting_for_each_operator_names_the_one() {
    let test = "errors::waiting_for_each_operator_names_the_one";
    in_each(test, |gpu| {
        let (error, early) = fail(gpu, looked_up_and_scaled([8, 1]), true);
        assert!(early);
        let said = error.to_string();
        let begin = format!("{NODE}: hipStreamSynchronize failed on device 0: ");
        assert!(said.starts_with(&begin), "{said}");
        assert!(matches!(error, TensorError::Kernel { .. }), "{said}");
    });
}
