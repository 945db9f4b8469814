//! Layers, losses, optimizers and models as graph builders.
