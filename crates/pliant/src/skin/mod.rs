//! The two baseline skinnings: linear blend and dual quaternions.
