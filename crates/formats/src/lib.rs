//! Number formats, exact conversions and counter-based random numbers.
