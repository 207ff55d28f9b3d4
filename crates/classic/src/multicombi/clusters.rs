//! Groups of sources that are well separated from all others, however poorly from each other.
//!
//! In: ISR (d×d), the expected interference of source l in source k. Out: a partition of the
//! sources, best group first.
//!
//! Sources are joined by single linkage: the two groups with the largest ½(ISR_kl + ISR_lk)
//! between them become one, until there is one. Of the 2d − 2 groups that were seen on the way, the
//! last one left out, those with the least mean interference from outside,
//!
//! ```text
//! (d − 1)/(|I|·(d − |I|)) · Σ_{k∈I, l∉I} ISR_kl
//! ```
//!
//! are taken one after the other, each with those that overlap it struck out. For a source alone
//! that is Σ_l ISR_kl.

use faer::Mat;

/// A group of sources.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Cluster {
    /// The sources, ascending.
    pub(super) members: Vec<usize>,
    /// Mean interference from outside, times d − 1.
    pub(super) interference: f64,
}

/// The partition, for d ≥ 2 sources.
pub(super) fn partition(isr: &Mat<f64>) -> Vec<Cluster> {
    let mut candidates = candidates(isr);
    let mut chosen: Vec<Cluster> = Vec::new();
    while let Some(best) = candidates
        .iter()
        .min_by(|a, b| a.interference.total_cmp(&b.interference))
        .cloned()
    {
        candidates.retain(|other| !other.members.iter().any(|k| best.members.contains(k)));
        chosen.push(best);
    }
    chosen
}

/// Every group that single linkage meets but the last, which is everything.
fn candidates(isr: &Mat<f64>) -> Vec<Cluster> {
    let d = isr.nrows();
    let mut groups: Vec<Vec<usize>> = (0..d).map(|k| vec![k]).collect();
    let mut met = groups.clone();
    while groups.len() > 2 {
        let link = |a: usize, b: usize| {
            let pairs = groups[a]
                .iter()
                .flat_map(|&k| groups[b].iter().map(move |&l| (k, l)));
            pairs
                .map(|(k, l)| isr[(k, l)] + isr[(l, k)])
                .fold(0.0, f64::max)
        };
        let (mut closest, mut strongest) = ((0, 1), f64::NEG_INFINITY);
        for b in 1..groups.len() {
            for a in 0..b {
                let strength = link(a, b);
                if strength > strongest {
                    (closest, strongest) = ((a, b), strength);
                }
            }
        }
        let joined = groups.remove(closest.1);
        groups[closest.0].extend(joined);
        groups[closest.0].sort_unstable();
        met.push(groups[closest.0].clone());
    }
    met.into_iter()
        .map(|members| {
            let outside = |l: &usize| !members.contains(l);
            let sum: f64 = members
                .iter()
                .map(|&k| (0..d).filter(outside).map(|l| isr[(k, l)]).sum::<f64>())
                .sum();
            let pairs = (members.len() * (d - members.len())) as f64;
            Cluster {
                interference: sum * (d - 1) as f64 / pairs,
                members,
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_that_are_mixed_with_each_other_stay_together() {
        // 1 and 3 are well apart from the rest, not from each other; so are 0, 2 and 4, less well.
        let isr = Mat::from_fn(5, 5, |k, l| match (k % 2, l % 2) {
            _ if k == l => 0.0,
            (1, 1) => 0.5,
            (0, 0) => 0.2,
            (1, 0) => 1e-4,
            _ => 1e-3,
        });
        let found = partition(&isr);
        assert_eq!(found.len(), 2);
        assert_eq!(found[0].members, [1, 3]);
        assert!((found[0].interference - 4e-4).abs() < 1e-15);
        assert_eq!(found[1].members, [0, 2, 4]);
    }

    #[test]
    fn sources_that_are_apart_stand_alone_in_the_order_of_their_interference() {
        let isr = Mat::from_fn(
            4,
            4,
            |k, l| if k == l { 0.0 } else { 1e-3 / (k + 1) as f64 },
        );
        let members: Vec<Vec<usize>> = partition(&isr).into_iter().map(|c| c.members).collect();
        assert_eq!(members, [[3], [2], [1], [0]]);
        let two = partition(&Mat::from_fn(2, 2, |k, l| {
            (k != l) as u8 as f64 * (k + 1) as f64
        }));
        assert_eq!((two[0].members[0], two[0].interference), (0, 1.0));
        assert_eq!((two[1].members[0], two[1].interference), (1, 2.0));
    }
}
