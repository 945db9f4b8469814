//! The typed graph: operators, shapes, gradients, sharding rules, costs and passes. Pure: runs nothing.
