//! Checks the numbers, each function against something computed another way.
//!
//! All tests are in this one program beside the library. Inside it they would compile every Fourier transform a second time,
//! half a minute of the workspace's build.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a malformed table must stop the test; the worst errors are its output"
)]

mod convolution;
mod lagged;
mod linear;
mod properties;
mod tables;
mod vector;
