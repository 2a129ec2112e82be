//! States the papers' theorems by name and equation, with their errata fixed, each rounded to the safe side.
//!
//! * [`thesis`]: DP penalty and DP Hamiltonian Monte Carlo (theorems 3.2 and 4.3, algorithm 2, and the constants of theorems 3.1 and 3.5).
//! * [`barker`]: the Barker test of Heikkilä et al. 2019 (Theorem 2 and Corollary 2), in three bounds.
//!   Its Theorem 1, the test on all records, is [`crate::mechanisms::NoisyDecision`].
//! * [`gradients`]: DP-SGLD, DP-SGNHT and DP-SGFS (Wang, Fienberg, Smola 2015; Li et al. 2019), and Langevin diffusions.
//!
//! Propositions 1 to 3 of the NeurIPS supplement are general and live where they belong: composition in
//! [`crate::renyi::RenyiComposition`], amplification by sampling in [`crate::renyi::Amplified`], conversion in
//! [`crate::Renyi::epsilon_classical`].

pub mod barker;
pub mod gradients;
pub mod thesis;
