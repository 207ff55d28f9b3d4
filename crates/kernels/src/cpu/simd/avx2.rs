//! AVX2 with FMA: 8 lanes, 16 registers.

use super::{MAX_LANES, ROUNDER, Simd};
use std::arch::x86_64::*;

/// Proof that this machine has AVX2 and FMA.
#[derive(Clone, Copy, Debug)]
pub struct Avx2(());

impl Avx2 {
    /// The token, on a machine that has the instructions.
    pub fn detect() -> Option<Avx2> {
        (is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma")).then_some(Avx2(()))
    }
}

#[target_feature(enable = "avx2,fma")]
fn enabled<R>(body: impl FnOnce() -> R) -> R {
    body()
}

/// Lanes in use have the sign bit set, as `vmaskmovps` wants it.
#[inline]
#[target_feature(enable = "avx2,fma")]
fn first_lanes(count: usize) -> __m256i {
    debug_assert!(count <= 8);
    _mm256_cmpgt_epi32(
        _mm256_set1_epi32(count as i32),
        _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7),
    )
}

// SAFETY of every block below: the token exists, so the machine has AVX2 and FMA; pointers are the
// caller's contract.
impl Simd for Avx2 {
    type V = __m256;
    const LANES: usize = 8;
    const TILE_ROWS: usize = 4;
    const WIDE: bool = false;
    const CENTRED: bool = true;

    #[inline(always)]
    fn run<R>(self, body: impl FnOnce() -> R) -> R {
        unsafe { enabled(body) }
    }
    #[inline(always)]
    fn splat(self, x: f32) -> __m256 {
        unsafe { _mm256_set1_ps(x) }
    }
    #[inline(always)]
    unsafe fn load(self, from: *const f32) -> __m256 {
        unsafe { _mm256_loadu_ps(from) }
    }
    #[inline(always)]
    unsafe fn load_first(self, from: *const f32, count: usize) -> __m256 {
        unsafe { _mm256_maskload_ps(from, first_lanes(count)) }
    }
    #[inline(always)]
    unsafe fn store(self, to: *mut f32, v: __m256) {
        unsafe { _mm256_storeu_ps(to, v) }
    }
    #[inline(always)]
    unsafe fn store_first(self, to: *mut f32, count: usize, v: __m256) {
        unsafe { _mm256_maskstore_ps(to, first_lanes(count), v) }
    }
    #[inline(always)]
    fn add(self, a: __m256, b: __m256) -> __m256 {
        unsafe { _mm256_add_ps(a, b) }
    }
    #[inline(always)]
    fn sub(self, a: __m256, b: __m256) -> __m256 {
        unsafe { _mm256_sub_ps(a, b) }
    }
    #[inline(always)]
    fn mul(self, a: __m256, b: __m256) -> __m256 {
        unsafe { _mm256_mul_ps(a, b) }
    }
    #[inline(always)]
    fn div(self, a: __m256, b: __m256) -> __m256 {
        unsafe { _mm256_div_ps(a, b) }
    }
    #[inline(always)]
    fn mul_add(self, a: __m256, b: __m256, c: __m256) -> __m256 {
        unsafe { _mm256_fmadd_ps(a, b, c) }
    }
    #[inline(always)]
    fn neg_mul_add(self, a: __m256, b: __m256, c: __m256) -> __m256 {
        unsafe { _mm256_fnmadd_ps(a, b, c) }
    }
    #[inline(always)]
    fn max(self, a: __m256, b: __m256) -> __m256 {
        unsafe { _mm256_max_ps(a, b) }
    }
    #[inline(always)]
    fn abs(self, a: __m256) -> __m256 {
        unsafe { _mm256_andnot_ps(_mm256_set1_ps(-0.0), a) }
    }
    #[inline(always)]
    fn sqrt(self, a: __m256) -> __m256 {
        unsafe { _mm256_sqrt_ps(a) }
    }
    #[inline(always)]
    fn select_non_negative(self, sign: __m256, a: __m256, b: __m256) -> __m256 {
        unsafe { _mm256_blendv_ps(b, a, _mm256_cmp_ps::<_CMP_GE_OQ>(sign, _mm256_setzero_ps())) }
    }
    #[inline(always)]
    fn split(self, x: __m256) -> (__m256, __m256) {
        let shifted = self.add(x, self.splat(ROUNDER));
        (self.sub(x, self.sub(shifted, self.splat(ROUNDER))), shifted)
    }
    #[inline(always)]
    fn scale_by_power(self, a: __m256, power: __m256) -> __m256 {
        unsafe {
            let shift = _mm256_slli_epi32::<23>(_mm256_castps_si256(power));
            _mm256_castsi256_ps(_mm256_add_epi32(_mm256_castps_si256(a), shift))
        }
    }
    #[inline(always)]
    fn transpose(self, vectors: &mut [__m256; MAX_LANES]) {
        unsafe { transpose(vectors) }
    }
    #[inline(always)]
    fn sum(self, a: __m256) -> f32 {
        unsafe {
            let four = _mm_add_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps::<1>(a));
            let two = _mm_add_ps(four, _mm_movehl_ps(four, four));
            _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)))
        }
    }
    #[inline(always)]
    fn sums(self, vectors: &[__m256], sums: &mut [f32]) {
        let (tiles, rest) = vectors.as_chunks::<8>();
        let mut at = 0;
        for tile in tiles {
            let total = unsafe { sum_each(tile) };
            unsafe { self.store(sums[at..at + 8].as_mut_ptr(), total) };
            at += 8;
        }
        for (sum, &v) in sums[at..].iter_mut().zip(rest) {
            *sum = self.sum(v);
        }
    }
}

/// Sums of 8 vectors in one vector: a tree in which every level halves both the lanes and the
/// vectors.
#[inline]
#[target_feature(enable = "avx2,fma")]
fn sum_each(v: &[__m256; 8]) -> __m256 {
    let four = |g: usize| {
        _mm256_hadd_ps(
            _mm256_hadd_ps(v[g], v[g + 1]),
            _mm256_hadd_ps(v[g + 2], v[g + 3]),
        )
    };
    let (low, high) = (four(0), four(4));
    _mm256_add_ps(
        _mm256_permute2f128_ps::<0x20>(low, high),
        _mm256_permute2f128_ps::<0x31>(low, high),
    )
}

/// Transposes 8×8: pairs of lanes, then quadruples, then halves change places.
#[inline]
#[target_feature(enable = "avx2,fma")]
fn transpose(v: &mut [__m256; MAX_LANES]) {
    let mut pairs = [_mm256_setzero_ps(); 8];
    for i in 0..4 {
        pairs[2 * i] = _mm256_unpacklo_ps(v[2 * i], v[2 * i + 1]);
        pairs[2 * i + 1] = _mm256_unpackhi_ps(v[2 * i], v[2 * i + 1]);
    }
    let mut quads = [_mm256_setzero_ps(); 8];
    for i in 0..2 {
        let (a, b) = (&pairs[4 * i..4 * i + 2], &pairs[4 * i + 2..4 * i + 4]);
        for half in 0..2 {
            quads[4 * i + 2 * half] = _mm256_shuffle_ps::<0b01_00_01_00>(a[half], b[half]);
            quads[4 * i + 2 * half + 1] = _mm256_shuffle_ps::<0b11_10_11_10>(a[half], b[half]);
        }
    }
    for i in 0..4 {
        v[i] = _mm256_permute2f128_ps::<0x20>(quads[i], quads[i + 4]);
        v[i + 4] = _mm256_permute2f128_ps::<0x31>(quads[i], quads[i + 4]);
    }
}
