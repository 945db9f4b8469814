//! Experiment YAML to one immutable resolved experiment in which every value knows where it came from.
