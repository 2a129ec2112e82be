//! Reproduces the figures of Heikkilä, Jälkö, Dikmen and Honkela, *Differentially Private Markov Chain Monte Carlo*, NeurIPS 2019.

pub(crate) mod budget;
mod exact;
pub(crate) mod mixture;
pub(crate) mod supplement;
