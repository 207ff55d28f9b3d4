//! The vector instructions that the kernels use, behind one trait with three implementations.
//!
//! A kernel is written once, generic over [`Simd`]. Its public function hands a closure to
//! [`Simd::run`], which compiles the closure's body with the instruction set of the path; every
//! helper it calls is `#[inline(always)]`, so that it is compiled with it too. A path is a
//! zero-sized token that can only be had on a machine that has the instructions, which is what
//! makes the safe methods safe.
//!
//! Written by hand, and not with the crate `pulp`, because that was measured: the whole layer over
//! `pulp` 0.22 takes 7 to 10 % longer for a step of `examples/step.rs goal` on AVX2 (user time, one
//! thread, best of turns side by side), and 3 to 6 % longer with our own transposes and sums across
//! lanes under it. `pulp` has no transposes, shifts by a variable where a constant would do, and on
//! AVX-512 offers neither `vscalefps` nor `vreduceps`, which make 2ˣ two instructions cheaper; with
//! these kept by hand it would replace the plain arithmetic alone. Its NEON path has four lanes of
//! the same instructions that the compiler makes of `portable`.
//!
//! Deliberately absent: anything that is not needed by these kernels. Functions such as exp live in
//! `math`.

#[cfg(target_arch = "x86_64")]
pub mod avx2;
#[cfg(target_arch = "x86_64")]
pub mod avx512;
pub mod portable;

/// Which instruction set an engine computes with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SimdPath {
    /// 16 lanes, x86-64 with AVX-512F.
    Avx512,
    /// 8 lanes, x86-64 with AVX2 and FMA.
    Avx2,
    /// 8 lanes in plain Rust, vectorised by the compiler for whatever it targets (SSE2, NEON).
    Portable,
}

impl SimdPath {
    /// Every path, fastest first.
    pub const ALL: [SimdPath; 3] = [SimdPath::Avx512, SimdPath::Avx2, SimdPath::Portable];

    /// Whether this machine can run it.
    pub fn is_available(self) -> bool {
        match self {
            #[cfg(target_arch = "x86_64")]
            SimdPath::Avx512 => avx512::Avx512::detect().is_some(),
            #[cfg(target_arch = "x86_64")]
            SimdPath::Avx2 => avx2::Avx2::detect().is_some(),
            #[cfg(not(target_arch = "x86_64"))]
            SimdPath::Avx512 | SimdPath::Avx2 => false,
            SimdPath::Portable => true,
        }
    }

    /// The fastest path of this machine.
    pub fn detect() -> SimdPath {
        SimdPath::ALL
            .into_iter()
            .find(|path| path.is_available())
            .expect("the portable path always runs")
    }

    /// Vector width in f32 lanes.
    pub fn lanes(self) -> usize {
        match self {
            SimdPath::Avx512 => 16,
            SimdPath::Avx2 | SimdPath::Portable => 8,
        }
    }
}

/// Adding it to |x| < 2²² rounds x to an integer, which then stands in the low mantissa bits.
const ROUNDER: f32 = 12_582_912.0; // 1.5 · 2²³

/// The widest vector of any path, in lanes.
pub const MAX_LANES: usize = 16;

/// One instruction set. All arithmetic is lane by lane.
pub trait Simd: Copy + Send + Sync + 'static {
    /// A vector of [`Simd::LANES`] f32.
    type V: Copy;

    /// Lanes per vector, at most [`MAX_LANES`].
    const LANES: usize;

    /// Rows of one register tile of the matrix product.
    const TILE_ROWS: usize;

    /// Whether there are 32 registers, not 16: enough to hold the outputs of two blocks of queries
    /// at once.
    const WIDE: bool;

    /// Whether fractions of [`Simd::split`] lie in [−½, ½]; else they lie in [0, 1).
    const CENTRED: bool;

    /// Calls `body` compiled with this instruction set.
    fn run<R>(self, body: impl FnOnce() -> R) -> R;

    /// All lanes equal to `x`.
    fn splat(self, x: f32) -> Self::V;
    /// Reads `LANES` values.
    ///
    /// # Safety
    /// `from` must be valid for reading that many.
    unsafe fn load(self, from: *const f32) -> Self::V;
    /// Reads `count` ≤ `LANES` values; the other lanes are 0.
    ///
    /// # Safety
    /// `from` must be valid for reading `count` values.
    unsafe fn load_first(self, from: *const f32, count: usize) -> Self::V;
    /// Writes `LANES` values.
    ///
    /// # Safety
    /// `to` must be valid for writing that many.
    unsafe fn store(self, to: *mut f32, v: Self::V);
    /// Writes the first `count` ≤ `LANES` lanes.
    ///
    /// # Safety
    /// `to` must be valid for writing `count` values.
    unsafe fn store_first(self, to: *mut f32, count: usize, v: Self::V);

    /// a + b.
    fn add(self, a: Self::V, b: Self::V) -> Self::V;
    /// a − b.
    fn sub(self, a: Self::V, b: Self::V) -> Self::V;
    /// a · b.
    fn mul(self, a: Self::V, b: Self::V) -> Self::V;
    /// a / b.
    fn div(self, a: Self::V, b: Self::V) -> Self::V;
    /// a·b + c.
    fn mul_add(self, a: Self::V, b: Self::V, c: Self::V) -> Self::V;
    /// c − a·b.
    fn neg_mul_add(self, a: Self::V, b: Self::V, c: Self::V) -> Self::V;
    /// The larger of the two.
    fn max(self, a: Self::V, b: Self::V) -> Self::V;
    /// |a|.
    fn abs(self, a: Self::V) -> Self::V;
    /// √a.
    fn sqrt(self, a: Self::V) -> Self::V;
    /// `a` where `sign` ≥ 0, elsewhere `b`.
    fn select_non_negative(self, sign: Self::V, a: Self::V, b: Self::V) -> Self::V;
    /// x = fraction + integer → (fraction, power), where `power` is whatever
    /// [`Simd::scale_by_power`] reads the integer from. See [`Simd::CENTRED`]. For |x| < 2²².
    fn split(self, x: Self::V) -> (Self::V, Self::V);
    /// a·2ⁿ for the integer n in `power`, as long as the result is a normal number.
    fn scale_by_power(self, a: Self::V, power: Self::V) -> Self::V;
    /// Sum over the lanes, in an order that depends on the path alone.
    fn sum(self, a: Self::V) -> f32;

    /// The largest lane; lanes that are not a number may or may not count.
    #[inline(always)]
    fn largest(self, a: Self::V) -> f32 {
        let mut lanes = [0.0; MAX_LANES];
        self.put(&mut lanes, 0, Lanes(Self::LANES), a);
        let larger = |a, b| if b > a { b } else { a };
        lanes[..Self::LANES]
            .iter()
            .copied()
            .fold(f32::NEG_INFINITY, larger)
    }

    /// The sums of several vectors: `sums[i]` = sum of the lanes of `vectors[i]`.
    #[inline(always)]
    fn sums(self, vectors: &[Self::V], sums: &mut [f32]) {
        for (sum, &v) in sums.iter_mut().zip(vectors) {
            *sum = self.sum(v);
        }
    }

    /// Transposes the square of the first `LANES` vectors: lane i of vector j goes to lane j of
    /// vector i.
    fn transpose(self, vectors: &mut [Self::V; MAX_LANES]);

    /// All lanes 0.
    #[inline(always)]
    fn zero(self) -> Self::V {
        self.splat(0.0)
    }

    /// Calls `body(at, count)` for every vector of a slice of `len` values, the last one perhaps
    /// partial.
    #[inline(always)]
    fn for_each_vector(self, len: usize, mut body: impl FnMut(usize, Lanes)) {
        let full = len - len % Self::LANES;
        let mut at = 0;
        while at < full {
            body(at, Lanes(Self::LANES));
            at += Self::LANES;
        }
        if at < len {
            body(at, Lanes(len - at));
        }
    }

    /// Reads the lanes `lanes` of `values[at..]`.
    #[inline(always)]
    fn get(self, values: &[f32], at: usize, lanes: Lanes) -> Self::V {
        assert!(at + lanes.0 <= values.len());
        // SAFETY: the range was just checked.
        unsafe {
            if lanes.0 == Self::LANES {
                self.load(values.as_ptr().add(at))
            } else {
                self.load_first(values.as_ptr().add(at), lanes.0)
            }
        }
    }

    /// Writes the lanes `lanes` of `values[at..]`.
    #[inline(always)]
    fn put(self, values: &mut [f32], at: usize, lanes: Lanes, v: Self::V) {
        assert!(at + lanes.0 <= values.len());
        // SAFETY: the range was just checked.
        unsafe {
            if lanes.0 == Self::LANES {
                self.store(values.as_mut_ptr().add(at), v)
            } else {
                self.store_first(values.as_mut_ptr().add(at), lanes.0, v)
            }
        }
    }
}

/// How many lanes of a vector are in use, 1 to [`Simd::LANES`].
#[derive(Clone, Copy)]
pub struct Lanes(pub usize);
