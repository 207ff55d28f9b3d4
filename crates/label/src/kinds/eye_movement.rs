//! Eye movement: slow changes whose map has opposite signs beside the eyes, or the shape of the
//! forehead without blinks. Only where places of electrodes, or a channel of the eyes, are known:
//! its course alone is that of many things.

use crate::course::percent;
use crate::power::Power;
use crate::{Evidence, Proposal, met, weakest};

pub(crate) fn propose(evidence: &Evidence<'_>) -> Option<Proposal> {
    let head = &evidence.head;
    evidence.course.rate?;
    let power = Power::new(&evidence.course, Some(0.25))?;
    let below = power.share(0.0, 6.0);
    // What moves within a second is no drift of an electrode.
    let moving = power.share(0.5, 6.0);
    let slow = met(below, 0.5, 0.75).min(met(moving, 0.1, 0.25));
    let (place, words) = match (head.lateral(), head.frontal()) {
        (Some(lateral), Some(frontal)) if lateral >= frontal => (
            met(lateral, 0.45, 0.7).min(met(head.balance(), 0.25, 0.55)),
            format!("its map has opposite signs beside the eyes (likeness {lateral:.2})"),
        ),
        // Forwards lies more than the eyes: a little less sure.
        (_, Some(frontal)) => (
            0.8 * met(frontal, 0.6, 0.85),
            format!("its map is that of the forehead (likeness {frontal:.2})"),
        ),
        _ if head.is_of_the_eyes() => (0.7, "it is strongest in a channel of the eyes".into()),
        _ => return None,
    };
    Some(Proposal {
        confidence: weakest([slow, place]),
        frequency: None,
        reason: format!("{words}, and {} of its power is below 6 Hz", percent(below)),
    })
}
