//! The algebra of placement: meshes, layouts, duals and local boxes.
