//! Lends models aligned buffers that outlive the step, so that no step allocates.

/// Reusable working memory of one thread.
///
/// **Privacy.** Holds values computed from records; no `Debug`, `Clone` or `Serialize`.
///
/// ```compile_fail,E0277
/// println!("{:?}", barkeep_model::Scratch::new());
/// ```
#[derive(Default)]
pub struct Scratch {
    values: Vec<f64>,
    /// Kept apart, because the default log ratio holds it while it calls functions that borrow the rest.
    pub(crate) difference: Vec<f64>,
    /// What programs of models written as text work in.
    pub(crate) workspace: crate::language::Workspace,
}

/// The number of f64 in a cache line.
const LINE: usize = 8;

impl Scratch {
    /// Empty working memory; grows to what the first step needs.
    pub fn new() -> Self {
        Self::default()
    }

    /// `COUNT` disjoint buffers of `length` values with unspecified contents, each 64-byte aligned.
    pub fn buffers<const COUNT: usize>(&mut self, length: usize) -> [&mut [f64]; COUNT] {
        // One line more than asked between buffers: equal distances of a power of two share cache sets.
        let stride = length.next_multiple_of(LINE) + LINE;
        let needed = COUNT * stride + LINE;
        if self.values.len() < needed {
            self.values.resize(needed, 0.0);
        }
        let pointer: *const f64 = self.values.as_ptr();
        let offset = pointer.align_offset(LINE * size_of::<f64>()).min(LINE - 1);
        let mut buffers = self.values[offset..].chunks_exact_mut(stride);
        std::array::from_fn(|_| buffers.next().map_or(&mut [] as &mut [f64], |buffer| &mut buffer[..length]))
    }
}
