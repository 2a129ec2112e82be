//! Reproduces the figures of Heikkilä, Jälkö, Dikmen and Honkela, *Differentially Private Markov Chain Monte Carlo*, NeurIPS 2019.

pub(crate) mod budget;
pub(crate) mod supplement;
