//! Runs tasks on the current rayon pool in a given order, biggest first, without allocating.
//!
//! A parallel iterator would hand out halves of the list, and the last thread might start the biggest task last.

use rayon::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A slice whose elements several threads take, each element by one thread only.
struct Shared<T>(*mut T);
// SAFETY: `for_each` hands every index out once, so no element is ever seen by two threads.
unsafe impl<T: Send> Sync for Shared<T> {}

impl<T> Shared<T> {
    /// # Safety
    /// The range is inside the slice and no two calls overlap.
    #[allow(clippy::mut_from_ref)]
    unsafe fn take(&self, start: usize, len: usize) -> &mut [T] {
        // SAFETY: the caller's contract.
        unsafe { std::slice::from_raw_parts_mut(self.0.add(start), len) }
    }
}

/// Calls `task(i, &mut items[i], chunk i of chunks)` for every i in `order`, in that order as threads become free.
/// `order` is a permutation of the items' indices; `chunks` has equally many elements per item.
pub fn for_each<A: Send, B: Send>(
    order: &[usize],
    items: &mut [A],
    chunks: &mut [B],
    task: impl Fn(usize, &mut A, &mut [B]) + Sync,
) {
    let count = items.len();
    let per_item = chunks.len() / count;
    assert!(
        order.len() == count && chunks.len() == per_item * count,
        "one place in the order for every item"
    );
    assert!(
        (0..count).all(|i| order.contains(&i)),
        "the order is a permutation"
    );
    let next = AtomicUsize::new(0);
    let (items, chunks) = (Shared(items.as_mut_ptr()), Shared(chunks.as_mut_ptr()));
    let (items, chunks) = (&items, &chunks);
    (0..rayon::current_num_threads())
        .into_par_iter()
        .with_max_len(1)
        .for_each(|_| {
            while let Some(&i) = order.get(next.fetch_add(1, Ordering::Relaxed)) {
                // SAFETY: i < count, and the counter gives every place of the permutation to one thread.
                let (item, chunk) = unsafe { (items.take(i, 1), chunks.take(i * per_item, per_item)) };
                task(i, &mut item[0], chunk);
            }
        });
}
