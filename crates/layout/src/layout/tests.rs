//! Tables of layouts, and the laws that hold for all of them.

use super::*;
use proptest::prelude::*;

const AXES: [Axis; 3] = [Axis::DP, Axis::CP, Axis::TP];

fn mesh(sizes: [usize; 3]) -> Mesh {
    Mesh::new(AXES.into_iter().zip(sizes)).unwrap()
}

#[test]
fn nesting_order_decides_who_holds_what() {
    let mesh = mesh([1, 2, 3]);
    let cp_outer = Layout::replicated(2)
        .shard(Axis::CP, 0)
        .and_then(|l| l.shard(Axis::TP, -2))
        .unwrap();
    let tp_outer = Layout::replicated(2)
        .shard(Axis::TP, 0)
        .and_then(|l| l.shard(Axis::CP, 0))
        .unwrap();
    assert_ne!(cp_outer, tp_outer);
    // Rank 4 is (dp 0, cp 1, tp 1).
    let held = |layout: &Layout| layout.local_box(&mesh, &[12, 5], 4).unwrap();
    assert_eq!(
        held(&cp_outer),
        LocalBox {
            offset: vec![8, 0],
            len: vec![2, 5]
        }
    );
    assert_eq!(held(&tp_outer).offset, [6, 0]);
    assert_eq!(cp_outer.to_string(), "shard(0: cp tp)");
}

#[test]
fn uneven_splits_leave_short_and_empty_boxes() {
    let mesh = mesh([2, 1, 3]);
    let layout = Layout::replicated(1).shard(Axis::TP, -1).unwrap();
    let held: Vec<_> = (0..3)
        .map(|rank| layout.local_box(&mesh, &[4], rank).unwrap())
        .map(|b| (b.offset[0], b.len[0]))
        .collect();
    assert_eq!(held, [(0, 2), (2, 2), (4, 0)]);
    assert_eq!(
        layout.check_even(&mesh, &[4]),
        Err(LayoutError::Uneven {
            dim: 0,
            size: 4,
            n_chunks: 3
        })
    );
    assert_eq!(layout.check_even(&mesh, &[6]), Ok(()));
}

#[test]
fn duals() {
    let mesh = mesh([2, 2, 2]);
    let layout = Layout::from_placements(
        2,
        [
            (Axis::TP, Placement::Shard(1)),
            (Axis::DP, Placement::Partial(ReduceOp::Sum)),
        ],
    )
    .unwrap();
    let dual = layout.dual(&mesh).unwrap();
    assert_eq!(dual.to_string(), "shard(1: tp) partial(cp: sum)");
    assert_eq!(dual.dual(&mesh), Ok(layout));
    assert_eq!(
        Layout::replicated(0).dual(&mesh).unwrap().to_string(),
        "partial(cp: sum) partial(dp: sum) partial(tp: sum)"
    );
    for op in [ReduceOp::Max, ReduceOp::Min] {
        let layout = Layout::replicated(1)
            .place(Axis::CP, Placement::Partial(op))
            .unwrap();
        assert_eq!(
            layout.dual(&mesh),
            Err(LayoutError::NoDual { axis: Axis::CP, op })
        );
    }
}

#[test]
fn errors_name_the_fault() {
    let sharded = Layout::replicated(2).shard(Axis::TP, 1).unwrap();
    let taken = |placement| {
        Err(LayoutError::AxisTaken {
            axis: Axis::TP,
            placement,
        })
    };
    let shard_1 = Placement::Shard(1);
    assert_eq!(sharded.clone().shard(Axis::TP, 0), taken(shard_1));
    assert_eq!(sharded.clone().shard(Axis::TP, 1), taken(shard_1));
    let partial = Placement::Partial(ReduceOp::Sum);
    assert_eq!(sharded.clone().place(Axis::TP, partial), taken(shard_1));
    let summed = Layout::replicated(2).place(Axis::TP, partial).unwrap();
    assert_eq!(summed.clone().shard(Axis::TP, 0), taken(partial));
    for dim in [2, -3, isize::MAX, isize::MIN] {
        assert_eq!(
            Layout::replicated(2).shard(Axis::TP, dim),
            Err(LayoutError::DimOutOfRange { dim, ndim: 2 })
        );
    }

    let small = Mesh::new([(Axis::DP, 2)]).unwrap();
    let unknown = LayoutError::Mesh(MeshError::UnknownAxis { axis: Axis::TP });
    for layout in [&sharded, &summed] {
        assert_eq!(layout.check(&small, &[2, 2]), Err(unknown.clone()));
        assert_eq!(layout.dual(&small), Err(unknown.clone()));
        assert_eq!(layout.local_box(&small, &[2, 2], 0), Err(unknown.clone()));
    }
    assert_eq!(
        sharded.local_box(&mesh([1, 1, 2]), &[2], 0),
        Err(LayoutError::NdimMismatch {
            layout_ndim: 2,
            shape: vec![2]
        })
    );
    assert_eq!(
        Layout::replicated(1).local_box(&small, &[2], 2),
        Err(LayoutError::Mesh(MeshError::UnknownRank { rank: 2 }))
    );
}

#[test]
fn serialised_layouts_are_checked_when_read() {
    let layout = Layout::replicated(2)
        .shard(Axis::TP, 1)
        .and_then(|l| l.place(Axis::DP, Placement::Partial(ReduceOp::Sum)))
        .unwrap();
    let text = serde_json::to_string(&layout).unwrap();
    assert_eq!(text, r#"{"dims":[[],["tp"]],"partial":{"dp":"sum"}}"#);
    assert_eq!(serde_json::from_str::<Layout>(&text).unwrap(), layout);
    for bad in [
        r#"{"dims":[["tp"],["tp"]],"partial":{}}"#,
        r#"{"dims":[["tp"]],"partial":{"tp":"sum"}}"#,
    ] {
        let error = serde_json::from_str::<Layout>(bad).unwrap_err().to_string();
        assert!(
            error.contains("mesh axis `tp` is already shard(0)"),
            "{error}"
        );
    }
}

/// A shape of up to three dims, and a layout on it whose placements come in any order.
fn shape_and_layout(ops: &'static [ReduceOp]) -> impl Strategy<Value = (Vec<usize>, Layout)> {
    let shape = prop::collection::vec(0_usize..6, 0..4);
    shape.prop_flat_map(move |shape| {
        let ndim = shape.len();
        let choices: Vec<Placement> = std::iter::once(Placement::Replicate)
            .chain((0..ndim).map(Placement::Shard))
            .chain(ops.iter().copied().map(Placement::Partial))
            .collect();
        let placements = prop::collection::vec(prop::sample::select(choices), 3);
        let order = Just(AXES.to_vec()).prop_shuffle();
        (Just(shape), order, placements).prop_map(move |(shape, axes, placements)| {
            let layout = Layout::from_placements(ndim, axes.into_iter().zip(placements));
            (shape, layout.unwrap())
        })
    })
}

/// The key of a replica: a rank's coordinates on the axes that do not shard.
fn replica(mesh: &Mesh, layout: &Layout, rank: usize) -> Vec<usize> {
    mesh.axes()
        .iter()
        .zip(mesh.coords(rank).unwrap())
        .filter(|((axis, _), _)| !matches!(layout.placement(axis), Placement::Shard(_)))
        .map(|(_, coord)| coord)
        .collect()
}

fn indices(shape: &[usize]) -> Vec<Vec<usize>> {
    shape.iter().fold(vec![Vec::new()], |all, &size| {
        all.iter()
            .flat_map(|index| {
                (0..size).map(move |i| index.iter().copied().chain([i]).collect::<Vec<_>>())
            })
            .collect()
    })
}

const SIZES: std::ops::Range<usize> = 1..4;
const ALL_OPS: &[ReduceOp] = &[ReduceOp::Sum, ReduceOp::Max, ReduceOp::Min];

proptest! {
    #[test]
    fn boxes_cover_every_element_once_per_replica(
        sizes in [SIZES, SIZES, SIZES],
        (shape, layout) in shape_and_layout(ALL_OPS),
    ) {
        let mesh = mesh(sizes);
        let mut replicas: BTreeMap<_, Vec<LocalBox>> = BTreeMap::new();
        for &rank in mesh.ranks() {
            let held = layout.local_box(&mesh, &shape, rank).unwrap();
            replicas.entry(replica(&mesh, &layout, rank)).or_default().push(held);
        }
        let n_replicas: usize = mesh
            .axes()
            .iter()
            .filter(|(axis, _)| !matches!(layout.placement(axis), Placement::Shard(_)))
            .map(|(_, size)| size)
            .product();
        prop_assert_eq!(replicas.len(), n_replicas);
        for boxes in replicas.values() {
            let total: usize = boxes.iter().map(LocalBox::n_elements).sum();
            prop_assert_eq!(total, shape.iter().product::<usize>());
            for index in indices(&shape) {
                let holders = boxes.iter().filter(|b| b.contains(&index)).count();
                prop_assert_eq!(holders, 1, "index {:?} of {:?}", index, boxes);
            }
        }
    }

    #[test]
    fn even_splits_give_every_rank_one_local_shape(
        sizes in [SIZES, SIZES, SIZES],
        (shape, layout) in shape_and_layout(ALL_OPS),
    ) {
        let mesh = mesh(sizes);
        let local_shapes: BTreeSet<_> = mesh
            .ranks()
            .iter()
            .map(|&rank| layout.local_box(&mesh, &shape, rank).unwrap().len)
            .collect();
        prop_assert_eq!(layout.check_even(&mesh, &shape).is_ok(), local_shapes.len() == 1);
    }

    #[test]
    fn the_dual_of_the_dual_is_the_layout(
        sizes in [SIZES, SIZES, SIZES],
        (_, layout) in shape_and_layout(&[ReduceOp::Sum]),
    ) {
        let mesh = mesh(sizes);
        let dual = layout.dual(&mesh).unwrap();
        prop_assert_eq!(dual.dual(&mesh).unwrap(), layout.clone());
        for (axis, _) in mesh.axes() {
            let expected = match layout.placement(axis) {
                Placement::Replicate => Placement::Partial(ReduceOp::Sum),
                Placement::Partial(_) => Placement::Replicate,
                shard => shard,
            };
            prop_assert_eq!(dual.placement(axis), expected);
        }
    }

    #[test]
    fn text_form_round_trips((_, layout) in shape_and_layout(ALL_OPS)) {
        let text = serde_json::to_string(&layout).unwrap();
        prop_assert_eq!(serde_json::from_str::<Layout>(&text).unwrap(), layout);
    }
}
