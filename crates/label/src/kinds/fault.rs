//! A fault of one channel: the source is in that channel and in next to no other.
//!
//! In recordings of different sensors every source may be in one channel only; so a handful of
//! channels says nothing, and channels that are known to be of one head say more than others.

use crate::course::percent;
use crate::{Evidence, Proposal, met, weakest};

/// Channels without which nothing is said.
const FEWEST: usize = 6;

pub(crate) fn propose(evidence: &Evidence<'_>) -> Option<Proposal> {
    let head = &evidence.head;
    let n_channels = head.n_channels();
    if n_channels < FEWEST {
        return None;
    }
    let (name, share) = head.strongest()?;
    let most = if head.is_known() { 0.9 } else { 0.7 };
    Some(Proposal {
        confidence: weakest([met(share, 0.55, 0.85), met(head.lead(), 2.5, 4.5), most]),
        frequency: None,
        reason: format!(
            "{} of its squared weights are those of channel {name} alone, of {n_channels}; the next \
             one has {} of its weight",
            percent(share),
            percent(1.0 / head.lead())
        ),
    })
}
