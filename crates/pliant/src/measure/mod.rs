//! An independent judge of deformed skin: shares no kernel with the skinnings or the solver.
