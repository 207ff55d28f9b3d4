//! AVX-512F and DQ: 16 lanes, 32 registers.

use super::{MAX_LANES, Simd};
use std::arch::x86_64::*;

/// Proof that this machine has AVX-512F and DQ.
#[derive(Clone, Copy, Debug)]
pub struct Avx512(());

impl Avx512 {
    /// The token, on a machine that has the instructions.
    pub fn detect() -> Option<Avx512> {
        (is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512dq"))
            .then_some(Avx512(()))
    }
}

#[target_feature(enable = "avx512f,avx512dq,avx2,fma")]
fn enabled<R>(body: impl FnOnce() -> R) -> R {
    body()
}

#[inline(always)]
fn first_lanes(count: usize) -> __mmask16 {
    debug_assert!(count <= 16);
    ((1u32 << count) - 1) as __mmask16
}

// SAFETY of every block below: the token exists, so the machine has AVX-512F and DQ; pointers are
// the caller's contract.
impl Simd for Avx512 {
    type V = __m512;
    const LANES: usize = 16;
    const TILE_ROWS: usize = 8;
    const WIDE: bool = true;
    const CENTRED: bool = false;

    #[inline(always)]
    fn run<R>(self, body: impl FnOnce() -> R) -> R {
        unsafe { enabled(body) }
    }
    #[inline(always)]
    fn splat(self, x: f32) -> __m512 {
        unsafe { _mm512_set1_ps(x) }
    }
    #[inline(always)]
    unsafe fn load(self, from: *const f32) -> __m512 {
        unsafe { _mm512_loadu_ps(from) }
    }
    #[inline(always)]
    unsafe fn load_first(self, from: *const f32, count: usize) -> __m512 {
        unsafe { _mm512_maskz_loadu_ps(first_lanes(count), from) }
    }
    #[inline(always)]
    unsafe fn store(self, to: *mut f32, v: __m512) {
        unsafe { _mm512_storeu_ps(to, v) }
    }
    #[inline(always)]
    unsafe fn store_first(self, to: *mut f32, count: usize, v: __m512) {
        unsafe { _mm512_mask_storeu_ps(to, first_lanes(count), v) }
    }
    #[inline(always)]
    fn add(self, a: __m512, b: __m512) -> __m512 {
        unsafe { _mm512_add_ps(a, b) }
    }
    #[inline(always)]
    fn sub(self, a: __m512, b: __m512) -> __m512 {
        unsafe { _mm512_sub_ps(a, b) }
    }
    #[inline(always)]
    fn mul(self, a: __m512, b: __m512) -> __m512 {
        unsafe { _mm512_mul_ps(a, b) }
    }
    #[inline(always)]
    fn div(self, a: __m512, b: __m512) -> __m512 {
        unsafe { _mm512_div_ps(a, b) }
    }
    #[inline(always)]
    fn mul_add(self, a: __m512, b: __m512, c: __m512) -> __m512 {
        unsafe { _mm512_fmadd_ps(a, b, c) }
    }
    #[inline(always)]
    fn neg_mul_add(self, a: __m512, b: __m512, c: __m512) -> __m512 {
        unsafe { _mm512_fnmadd_ps(a, b, c) }
    }
    #[inline(always)]
    fn max(self, a: __m512, b: __m512) -> __m512 {
        unsafe { _mm512_max_ps(a, b) }
    }
    #[inline(always)]
    fn abs(self, a: __m512) -> __m512 {
        unsafe { _mm512_abs_ps(a) }
    }
    #[inline(always)]
    fn sqrt(self, a: __m512) -> __m512 {
        unsafe { _mm512_sqrt_ps(a) }
    }
    #[inline(always)]
    fn select_non_negative(self, sign: __m512, a: __m512, b: __m512) -> __m512 {
        unsafe {
            let keep = _mm512_cmp_ps_mask::<_CMP_GE_OQ>(sign, _mm512_setzero_ps());
            _mm512_mask_blend_ps(keep, b, a)
        }
    }
    #[inline(always)]
    fn split(self, x: __m512) -> (__m512, __m512) {
        // x − ⌊x⌋; `vscalefps` takes the floor of its second operand by itself.
        (unsafe { _mm512_reduce_ps::<0b0001>(x) }, x)
    }
    #[inline(always)]
    fn scale_by_power(self, a: __m512, power: __m512) -> __m512 {
        unsafe { _mm512_scalef_ps(a, power) }
    }
    #[inline(always)]
    fn transpose(self, vectors: &mut [__m512; MAX_LANES]) {
        unsafe { transpose(vectors) }
    }
    #[inline(always)]
    fn sum(self, a: __m512) -> f32 {
        unsafe { _mm512_reduce_add_ps(a) }
    }
    #[inline(always)]
    fn largest(self, a: __m512) -> f32 {
        unsafe { _mm512_reduce_max_ps(a) }
    }
    #[inline(always)]
    fn sums(self, vectors: &[__m512], sums: &mut [f32]) {
        let (tiles, rest) = vectors.as_chunks::<16>();
        let mut at = 0;
        for tile in tiles {
            let total = unsafe { sum_each(tile) };
            unsafe { self.store(sums[at..at + 16].as_mut_ptr(), total) };
            at += 16;
        }
        for (sum, &v) in sums[at..].iter_mut().zip(rest) {
            *sum = self.sum(v);
        }
    }
}

/// Sums of 16 vectors in one vector: a tree in which every level halves both the lanes and the
/// vectors.
#[inline]
#[target_feature(enable = "avx512f")]
fn sum_each(v: &[__m512; 16]) -> __m512 {
    // Each step adds neighbouring lanes (then pairs, quarters, halves) of two vectors and
    // interleaves the results.
    let by_one = |a, b| _mm512_add_ps(_mm512_unpacklo_ps(a, b), _mm512_unpackhi_ps(a, b));
    let by_two = |a, b| {
        let (a, b) = (_mm512_castps_pd(a), _mm512_castps_pd(b));
        _mm512_add_ps(
            _mm512_castpd_ps(_mm512_unpacklo_pd(a, b)),
            _mm512_castpd_ps(_mm512_unpackhi_pd(a, b)),
        )
    };
    // Per 128-bit lane: the sums of vectors 4g..4g+4 over the four lanes it holds.
    let group = |g: usize| {
        by_two(
            by_one(v[4 * g], v[4 * g + 1]),
            by_one(v[4 * g + 2], v[4 * g + 3]),
        )
    };
    let quarters = |a, b| {
        _mm512_add_ps(
            _mm512_shuffle_f32x4::<0b10_00_10_00>(a, b),
            _mm512_shuffle_f32x4::<0b11_01_11_01>(a, b),
        )
    };
    quarters(quarters(group(0), group(1)), quarters(group(2), group(3)))
}

/// Transposes 16×16: pairs of lanes, then quadruples, then quarters change places twice.
#[inline]
#[target_feature(enable = "avx512f")]
fn transpose(v: &mut [__m512; MAX_LANES]) {
    let mut pairs = [_mm512_setzero_ps(); 16];
    for i in 0..8 {
        pairs[2 * i] = _mm512_unpacklo_ps(v[2 * i], v[2 * i + 1]);
        pairs[2 * i + 1] = _mm512_unpackhi_ps(v[2 * i], v[2 * i + 1]);
    }
    // quads[4g + c]: per 128-bit quarter u, rows 4g..4g+4 of column 4u + c.
    let mut quads = [_mm512_setzero_ps(); 16];
    for g in 0..4 {
        for half in 0..2 {
            let (a, b) = (pairs[4 * g + half], pairs[4 * g + 2 + half]);
            quads[4 * g + 2 * half] = _mm512_shuffle_ps::<0b01_00_01_00>(a, b);
            quads[4 * g + 2 * half + 1] = _mm512_shuffle_ps::<0b11_10_11_10>(a, b);
        }
    }
    for c in 0..4 {
        let even = |a, b| _mm512_shuffle_f32x4::<0b10_00_10_00>(a, b);
        let odd = |a, b| _mm512_shuffle_f32x4::<0b11_01_11_01>(a, b);
        let (e01, e23) = (
            even(quads[c], quads[4 + c]),
            even(quads[8 + c], quads[12 + c]),
        );
        let (o01, o23) = (
            odd(quads[c], quads[4 + c]),
            odd(quads[8 + c], quads[12 + c]),
        );
        v[c] = even(e01, e23);
        v[8 + c] = odd(e01, e23);
        v[4 + c] = even(o01, o23);
        v[12 + c] = odd(o01, o23);
    }
}
