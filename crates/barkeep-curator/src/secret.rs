//! Wraps what is computed from records, so that the compiler refuses to let it out: only this crate opens it.

/// A value computed from records, before coin or noise has made it public.
///
/// It has no `Debug`, `Display`, `Serialize`, `Clone`, `PartialEq` or `Deref`, whatever `T` has, and no public
/// method gives `T` or a reference to it. Outside this crate it can be moved and dropped, nothing else.
///
/// **Privacy.** What is inside is not differentially private on its own. It leaves this crate in three ways
/// only: as the bit of a coin ([`Ask::decide`](crate::Ask::decide)), as a noisy lattice vector
/// ([`Ask::sum`](crate::Ask::sum)) and as a choice ([`Ask::choose`](crate::Ask::choose)), all charged before they
/// are computed.
///
/// ```compile_fail,E0277
/// fn print(secret: barkeep_curator::Secret<i64>) {
///     println!("{:?}", secret);
/// }
/// ```
#[must_use = "a secret costs a pass over the records"]
pub struct Secret<T>(T);

impl<T> Secret<T> {
    /// Seals a value computed from records.
    pub(crate) fn seal(value: T) -> Self {
        Self(value)
    }

    /// Opens it. The caller must put a coin, noise or a choice before anything leaves.
    pub(crate) fn open(self) -> T {
        self.0
    }
}
