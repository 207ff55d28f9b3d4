//! AVX-512F: 16 lanes, 32 registers.

use super::Simd;
use std::arch::x86_64::*;

/// Proof that this machine has AVX-512F.
#[derive(Clone, Copy, Debug)]
pub struct Avx512(());

impl Avx512 {
    /// The token, on a machine that has the instructions.
    pub fn detect() -> Option<Avx512> {
        is_x86_feature_detected!("avx512f").then_some(Avx512(()))
    }
}

#[target_feature(enable = "avx512f,avx2,fma")]
fn enabled<R>(body: impl FnOnce() -> R) -> R {
    body()
}

#[inline(always)]
fn first_lanes(count: usize) -> __mmask16 {
    debug_assert!(count <= 16);
    ((1u32 << count) - 1) as __mmask16
}

// SAFETY of every block below: the token exists, so the machine has AVX-512F; pointers are the caller's contract.
impl Simd for Avx512 {
    type V = __m512;
    const LANES: usize = 16;
    const TILE_ROWS: usize = 8;

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
    fn shift_exponent(self, a: __m512, n: __m512) -> __m512 {
        unsafe {
            let shift = _mm512_slli_epi32::<23>(_mm512_castps_si512(n));
            _mm512_castsi512_ps(_mm512_add_epi32(_mm512_castps_si512(a), shift))
        }
    }
    #[inline(always)]
    fn sum(self, a: __m512) -> f32 {
        unsafe { _mm512_reduce_add_ps(a) }
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

/// Sums of 16 vectors in one vector: a tree in which every level halves both the lanes and the vectors.
#[inline]
#[target_feature(enable = "avx512f")]
fn sum_each(v: &[__m512; 16]) -> __m512 {
    // Each step adds neighbouring lanes (then pairs, quarters, halves) of two vectors and interleaves the results.
    let by_one = |a, b| _mm512_add_ps(_mm512_unpacklo_ps(a, b), _mm512_unpackhi_ps(a, b));
    let by_two = |a, b| {
        let (a, b) = (_mm512_castps_pd(a), _mm512_castps_pd(b));
        _mm512_add_ps(
            _mm512_castpd_ps(_mm512_unpacklo_pd(a, b)),
            _mm512_castpd_ps(_mm512_unpackhi_pd(a, b)),
        )
    };
    // Per 128-bit lane: the sums of vectors 4g..4g+4 over the four lanes it holds.
    let group = |g: usize| by_two(by_one(v[4 * g], v[4 * g + 1]), by_one(v[4 * g + 2], v[4 * g + 3]));
    let quarters = |a, b| {
        _mm512_add_ps(
            _mm512_shuffle_f32x4::<0b10_00_10_00>(a, b),
            _mm512_shuffle_f32x4::<0b11_01_11_01>(a, b),
        )
    };
    quarters(quarters(group(0), group(1)), quarters(group(2), group(3)))
}
