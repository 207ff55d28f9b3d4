//! One kind of source a file: each has its criteria, their limits and its reason in words.
//!
//! The limits were settled on the simulated sources of `strt-lab labels` with seeds from 901 on;
//! the tables of `docs/labels.md` have others.

mod blink;
mod breath;
mod drift;
mod eye_movement;
mod fault;
mod heart;
mod line_noise;
mod muscle;
mod rhythm;
mod step;
mod trend;
mod white_noise;

use crate::{Evidence, Kind, Proposal};

/// What a kind says of a source; `None` where it cannot be judged.
pub(crate) type Propose = fn(&Evidence<'_>) -> Option<Proposal>;

/// All kinds; those that say more come first.
pub(crate) const BY_RANK: [&[(Kind, Propose)]; 3] = [
    &[
        (Kind::Heart, heart::propose),
        (Kind::Breath, breath::propose),
        (Kind::Blink, blink::propose),
        (Kind::EyeMovement, eye_movement::propose),
        (Kind::LineNoise, line_noise::propose),
    ],
    &[
        (Kind::Muscle, muscle::propose),
        (Kind::ChannelFault, fault::propose),
        (Kind::Step, step::propose),
        (Kind::Trend, trend::propose),
    ],
    &[
        (Kind::Drift, drift::propose),
        (Kind::Rhythm, rhythm::propose),
        (Kind::WhiteNoise, white_noise::propose),
    ],
];
