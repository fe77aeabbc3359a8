//! Sample characters and motions made by code: the same scenes in demos, tests and benches.
