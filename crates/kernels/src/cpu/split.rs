//! How a job is cut into items. Depends on the sizes of the job alone, never on the number of
//! threads: sums over items are then always taken in the same order.

use std::ops::Range;

/// Rows that go through a chain of operations together, so that what lies between them stays in the
/// first-level cache. A multiple of every vector width.
pub const ROW_BLOCK: usize = 64;

/// Rows of one item of the attention and feed-forward phase: half a row block, because it has the
/// most to do.
pub const ATTENTION_ROWS: usize = 32;

/// Most chunks of a job. Each but the first has a parameter gradient of its own, summed at the end.
const MAX_CHUNKS: usize = 16;

/// Least and most blocks of queries of one item of the backward pass of attention: below, sums
/// across lanes cost more than the split gains; the most items per head keep the memory for their
/// partial sums proportional to N.
const GROUP_BLOCKS: usize = 16;
const MAX_GROUPS: usize = 4;

/// n rows cut into equal ranges (the last one perhaps shorter).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ranges {
    n: usize,
    size: usize,
}

impl Ranges {
    /// Chunks of rows: as many row blocks each as keep the number of chunks within bounds.
    pub fn chunks(n: usize) -> Ranges {
        let blocks = n.div_ceil(ROW_BLOCK).div_ceil(MAX_CHUNKS).max(1);
        Ranges {
            n,
            size: blocks * ROW_BLOCK,
        }
    }

    /// Rows of one item of the attention and feed-forward phase.
    pub fn attention_rows(n: usize) -> Ranges {
        Ranges {
            n,
            size: ATTENTION_ROWS,
        }
    }

    /// Groups of `n_blocks` blocks of queries for the backward pass of attention.
    pub fn groups(n_blocks: usize) -> Ranges {
        Ranges {
            n: n_blocks,
            size: n_blocks.div_ceil(MAX_GROUPS).max(GROUP_BLOCKS),
        }
    }

    /// How many ranges there are.
    pub fn len(&self) -> usize {
        self.n.div_ceil(self.size)
    }

    /// Range i.
    pub fn get(&self, i: usize) -> Range<usize> {
        i * self.size..((i + 1) * self.size).min(self.n)
    }
}

/// Ranges of at most [`ROW_BLOCK`] rows that cover `rows`.
pub fn row_blocks(rows: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let end = rows.end;
    rows.step_by(ROW_BLOCK)
        .map(move |start| start..(start + ROW_BLOCK).min(end))
}

/// `rows` rows of a matrix with `width` columns, as a range of its elements.
pub fn elements(rows: &Range<usize>, width: usize) -> Range<usize> {
    rows.start * width..rows.end * width
}

/// Where in `list`, which is ascending, the values of `range` lie.
pub fn within(list: &[u32], range: &Range<usize>) -> Range<usize> {
    list.partition_point(|&i| (i as usize) < range.start)
        ..list.partition_point(|&i| (i as usize) < range.end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_cover_everything_once() {
        for n in (0..300).chain([1000, 1024, 1025, 5000, 100_000]) {
            for ranges in [
                Ranges::chunks(n),
                Ranges::attention_rows(n),
                Ranges::groups(n),
            ] {
                let mut next = 0;
                for i in 0..ranges.len() {
                    assert_eq!(ranges.get(i).start, next, "{ranges:?}");
                    next = ranges.get(i).end;
                }
                assert_eq!(next, n);
            }
            assert!(Ranges::chunks(n).len() <= MAX_CHUNKS && Ranges::groups(n).len() <= MAX_GROUPS);
        }
    }

    /// Operations of the phases of one job that one thread must do after another if there are
    /// enough threads for all items (the chain), and of all items together. Leading terms for d =
    /// 32, H = 4, f = 2d, L = 2 and dense attention.
    fn chain_and_total(n: usize, masked: usize) -> (usize, usize) {
        let (square, heads, d_head) = (32 * 32, 4, 8);
        let (mut chain, mut total) = (0, 0);
        let mut phase = |ranges: Ranges, copies: usize, per_row: usize| {
            let largest = (0..ranges.len())
                .map(|i| ranges.get(i).len())
                .max()
                .unwrap_or(0);
            chain += largest * per_row;
            total += copies * ranges.n * per_row;
        };
        for m in [n, masked] {
            phase(Ranges::chunks(n), 1, 4 * square + 2 * square * m / n);
            phase(
                Ranges::attention_rows(m),
                1,
                10 * square + n * heads * (4 * d_head + 17),
            );
            phase(Ranges::chunks(m), 1, 20 * square);
            phase(
                Ranges::groups(m.div_ceil(16)),
                heads,
                16 * n * (10 * d_head + 16),
            );
            phase(Ranges::chunks(n), 1, 8 * square + 4 * square * m / n);
        }
        (chain, total)
    }

    #[test]
    fn no_job_keeps_sixteen_threads_waiting() {
        // The case study: K = 3, five scales of T = 1000, 40 % masked. One task per branch would
        // take a quarter of all.
        let jobs = [249, 124, 61, 30, 14].map(|n| chain_and_total(n, n * 2 / 5));
        let all = 3 * jobs.iter().map(|(_, total)| total).sum::<usize>();
        for (i, (chain, total)) in jobs.into_iter().enumerate() {
            assert!(
                16 * chain <= 5 * all / 4,
                "scale {i}: {chain} of {all} in a row"
            );
            assert!(chain <= total);
        }
        assert!(
            jobs[0].1 * 5 > all,
            "the largest job is what the split is for"
        );
    }
}
