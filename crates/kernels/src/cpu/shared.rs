//! A slice of which several threads write different parts at the same time.

use std::marker::PhantomData;
use std::ops::Range;

/// A borrowed slice that hands out parts of itself to whoever promises that they do not overlap.
pub struct Shared<'a, T> {
    start: *mut T,
    len: usize,
    borrow: PhantomData<&'a mut [T]>,
}

// SAFETY: a `Shared` gives access to its elements only through `part` and `read`, whose callers
// promise that no element that one thread writes is seen by another; moving elements between
// threads is what `Send` allows.
unsafe impl<T: Send + Sync> Sync for Shared<'_, T> {}
// SAFETY: as above.
unsafe impl<T: Send> Send for Shared<'_, T> {}

impl<'a, T> Shared<'a, T> {
    /// Takes the slice; it comes back when the `Shared` goes out of scope.
    pub fn new(values: &'a mut [T]) -> Shared<'a, T> {
        Shared {
            start: values.as_mut_ptr(),
            len: values.len(),
            borrow: PhantomData,
        }
    }

    /// Elements in `range`, to write.
    ///
    /// # Safety
    /// While the result lives, no other part or reading of these elements may exist.
    #[allow(clippy::mut_from_ref)]
    pub unsafe fn part(&self, range: Range<usize>) -> &mut [T] {
        assert!(
            range.start <= range.end && range.end <= self.len,
            "a part of the slice"
        );
        // SAFETY: inside the slice; the caller promises that nobody else looks.
        unsafe { std::slice::from_raw_parts_mut(self.start.add(range.start), range.len()) }
    }
}
