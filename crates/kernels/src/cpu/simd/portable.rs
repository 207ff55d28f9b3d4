//! Eight lanes in plain Rust: the compiler makes SSE2 or NEON of them. a·b + c is rounded twice
//! here, because a fused product is a slow library call on machines without one.

use super::{MAX_LANES, ROUNDER, Simd};
use std::array::from_fn;

/// Runs everywhere.
#[derive(Clone, Copy, Debug)]
pub struct Portable;

const LANES: usize = 8;
type V = [f32; LANES];

impl Simd for Portable {
    type V = V;
    const LANES: usize = LANES;
    const TILE_ROWS: usize = 4;
    const WIDE: bool = false;
    const CENTRED: bool = true;

    #[inline(always)]
    fn run<R>(self, body: impl FnOnce() -> R) -> R {
        body()
    }
    #[inline(always)]
    fn splat(self, x: f32) -> V {
        [x; LANES]
    }
    #[inline(always)]
    unsafe fn load(self, from: *const f32) -> V {
        // SAFETY: the caller's contract; an array of f32 needs no more alignment than f32.
        unsafe { from.cast::<V>().read() }
    }
    #[inline(always)]
    unsafe fn load_first(self, from: *const f32, count: usize) -> V {
        // SAFETY: lanes below `count` are the caller's contract.
        from_fn(|i| {
            if i < count {
                unsafe { from.add(i).read() }
            } else {
                0.0
            }
        })
    }
    #[inline(always)]
    unsafe fn store(self, to: *mut f32, v: V) {
        // SAFETY: the caller's contract.
        unsafe { to.cast::<V>().write(v) }
    }
    #[inline(always)]
    unsafe fn store_first(self, to: *mut f32, count: usize, v: V) {
        for (i, x) in v.into_iter().take(count).enumerate() {
            // SAFETY: lanes below `count` are the caller's contract.
            unsafe { to.add(i).write(x) }
        }
    }
    #[inline(always)]
    fn add(self, a: V, b: V) -> V {
        from_fn(|i| a[i] + b[i])
    }
    #[inline(always)]
    fn sub(self, a: V, b: V) -> V {
        from_fn(|i| a[i] - b[i])
    }
    #[inline(always)]
    fn mul(self, a: V, b: V) -> V {
        from_fn(|i| a[i] * b[i])
    }
    #[inline(always)]
    fn div(self, a: V, b: V) -> V {
        from_fn(|i| a[i] / b[i])
    }
    #[inline(always)]
    fn mul_add(self, a: V, b: V, c: V) -> V {
        from_fn(|i| a[i] * b[i] + c[i])
    }
    #[inline(always)]
    fn neg_mul_add(self, a: V, b: V, c: V) -> V {
        from_fn(|i| c[i] - a[i] * b[i])
    }
    #[inline(always)]
    fn max(self, a: V, b: V) -> V {
        from_fn(|i| if a[i] > b[i] { a[i] } else { b[i] })
    }
    #[inline(always)]
    fn abs(self, a: V) -> V {
        a.map(f32::abs)
    }
    #[inline(always)]
    fn sqrt(self, a: V) -> V {
        a.map(f32::sqrt)
    }
    #[inline(always)]
    fn select_non_negative(self, sign: V, a: V, b: V) -> V {
        from_fn(|i| if sign[i] >= 0.0 { a[i] } else { b[i] })
    }
    #[inline(always)]
    fn split(self, x: V) -> (V, V) {
        let shifted = self.add(x, self.splat(ROUNDER));
        (self.sub(x, self.sub(shifted, self.splat(ROUNDER))), shifted)
    }
    #[inline(always)]
    fn scale_by_power(self, a: V, power: V) -> V {
        from_fn(|i| f32::from_bits(a[i].to_bits().wrapping_add(power[i].to_bits() << 23)))
    }
    #[inline(always)]
    fn transpose(self, vectors: &mut [V; MAX_LANES]) {
        for i in 0..LANES {
            for j in 0..i {
                (vectors[i][j], vectors[j][i]) = (vectors[j][i], vectors[i][j]);
            }
        }
    }
    #[inline(always)]
    fn sum(self, a: V) -> f32 {
        ((a[0] + a[4]) + (a[2] + a[6])) + ((a[1] + a[5]) + (a[3] + a[7]))
    }
}
