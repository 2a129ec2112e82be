//! States the papers' theorems by name and equation, their errata mended, each rounded to the safe side.
//!
//! * [`thesis`]: DP penalty and DP Hamiltonian Monte Carlo (theorems 3.1, 3.2, 3.3, 3.5, 4.2, 4.3; algorithm 2).
//! * [`barker`]: the Barker test of Heikkilä et al. 2019 (theorems 1 and 2, corollaries 1 and 2), in three bounds.
//! * [`gradients`]: DP-SGLD, DP-SGNHT and DP-SGFS (Wang, Fienberg, Smola 2015; Li et al. 2019), and Langevin diffusions.
//! * [`posterior`]: one draw from the exact posterior (Wang, Fienberg, Smola 2015, Theorem 1).
//!
//! Propositions 1 to 3 of the NeurIPS supplement are general and live where they belong: composition in
//! [`crate::renyi::Composition`], amplification by sampling in [`crate::renyi::Amplified`], conversion in
//! [`crate::Renyi::epsilon_classical`].

pub mod barker;
pub mod gradients;
pub mod posterior;
pub mod thesis;
