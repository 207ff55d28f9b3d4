//! Random numbers: every choice of a run comes from its seed through a named stream.
//!
//! ChaCha8 with one stream per purpose and, for training, per step: the generator of step n can be
//! made without running the steps before it, so a resumed run draws the same numbers without saving
//! a generator.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

/// What the numbers are for. Streams never overlap.
#[derive(Clone, Copy, Debug)]
pub enum Stream {
    /// Start of the sources.
    Sources,
    /// Start of the branch networks.
    Networks,
    /// Start of the mixer.
    Mixer,
    /// Checks of gradients.
    Check,
    /// Starts of the classical baselines.
    Baseline,
    /// Starts and resampled recordings of the estimated number of sources.
    Count,
    /// Simulated sources and drawn blocks by which sources are judged.
    Verdict,
    /// Draws of training step n.
    Step(u64),
}

/// The generator of one stream of one seed.
pub fn rng(seed: u64, stream: Stream) -> ChaCha8Rng {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream(match stream {
        Stream::Sources => 0,
        Stream::Networks => 1,
        Stream::Mixer => 2,
        Stream::Check => 3,
        Stream::Baseline => 4,
        Stream::Count => 5,
        Stream::Verdict => 6,
        Stream::Step(n) => 16 + n,
    });
    rng
}

/// Seed of restart i; restart 0 keeps the seed itself, so one start of a family can be reproduced
/// alone.
pub fn restart_seed(seed: u64, restart: usize) -> u64 {
    // The golden-ratio increment of SplitMix64 keeps nearby seeds and restarts apart.
    seed.wrapping_add((restart as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15))
}
