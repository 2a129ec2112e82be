//! Reproduces the figures of Heikkilä, Jälkö, Dikmen and Honkela, *Differentially Private Markov Chain Monte Carlo*, NeurIPS 2019.

pub(crate) mod aware;
pub(crate) mod budget;
pub(crate) mod exact;
pub(crate) mod mixture;
pub(crate) mod published_sgld;
pub(crate) mod supplement;
