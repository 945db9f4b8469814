//! Storage, backends, dispatcher, executor and the lazy tensor API.
