//! Rows of tokens ↔ the packed form in which attention reads queries: blocks of d × lanes, one
//! query per lane.
//!
//! Element c of row m lies at `((m / lanes)·d + c)·lanes + m % lanes`; a block is the transpose of
//! its rows, and the part of head h of a block is d_h × lanes values from h·d_h·lanes on.

use super::simd::{MAX_LANES, Simd};

/// `rows` rows (at most a vector's lanes) of d values each, times `scale` → one packed block (d ×
/// lanes), unused lanes 0. `row(lane)` is the row that goes into a lane.
pub fn pack<'a, S: Simd>(
    simd: S,
    d: usize,
    rows: usize,
    row: impl Fn(usize) -> &'a [f32],
    scale: f32,
    block: &mut [f32],
) {
    assert!(rows <= S::LANES && block.len() == d * S::LANES);
    simd.run(
        #[inline(always)]
        || {
            let mut tile = [simd.zero(); MAX_LANES];
            for c in (0..d).step_by(S::LANES) {
                let width = S::LANES.min(d - c);
                for lane in 0..S::LANES {
                    tile[lane] = if lane < rows {
                        let from = &row(lane)[c..c + width];
                        simd.mul(
                            simd.splat(scale),
                            simd.get(from, 0, super::simd::Lanes(width)),
                        )
                    } else {
                        simd.zero()
                    };
                }
                simd.transpose(&mut tile);
                for (i, column) in block[c * S::LANES..]
                    .chunks_exact_mut(S::LANES)
                    .take(width)
                    .enumerate()
                {
                    simd.put(column, 0, super::simd::Lanes(S::LANES), tile[i]);
                }
            }
        },
    )
}

/// The transpose: columns of d × lanes values, `column(c)` for c < d, times `scale` → `rows` (at
/// most lanes of them, d values each).
pub fn unpack<'a, S: Simd>(
    simd: S,
    d: usize,
    column: impl Fn(usize) -> &'a [f32],
    scale: f32,
    rows: &mut [f32],
) {
    assert!(rows.len() <= d * S::LANES);
    simd.run(
        #[inline(always)]
        || {
            let mut tile = [simd.zero(); MAX_LANES];
            for c in (0..d).step_by(S::LANES) {
                let width = S::LANES.min(d - c);
                for i in 0..S::LANES {
                    tile[i] = if i < width {
                        let from = column(c + i);
                        simd.mul(
                            simd.splat(scale),
                            simd.get(from, 0, super::simd::Lanes(S::LANES)),
                        )
                    } else {
                        simd.zero()
                    };
                }
                simd.transpose(&mut tile);
                for (lane, row) in rows.chunks_exact_mut(d).enumerate() {
                    simd.put(row, c, super::simd::Lanes(width), tile[lane]);
                }
            }
        },
    )
}
