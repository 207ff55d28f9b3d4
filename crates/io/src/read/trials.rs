//! Arrays of three dimensions: which of them counts trials, which channels, which samples.
//!
//! In: the shape, what the caller asks for, and what stands beside the array (a list of times or of
//! names). Out: the decision with the note that says it. Trials are pieces of one recording, laid
//! end to end; nothing is cut out or averaged, and no number of the array is looked at.

use super::Note;
use super::layout::{CLEAR, Evidence, Layout};

/// What a dimension counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dimension {
    Trials,
    Channels,
    Samples,
}

use Dimension::{Channels, Samples, Trials};

impl Dimension {
    fn name(self) -> &'static str {
        match self {
            Trials => "trials",
            Channels => "channels",
            Samples => "samples",
        }
    }
}

/// Whose arrays they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Keeper {
    /// NumPy and plain HDF5.
    NumPy,
    #[cfg_attr(not(feature = "mat"), allow(dead_code))]
    Matlab,
}

impl Keeper {
    fn ways(self) -> [[Dimension; 3]; 6] {
        match self {
            Self::NumPy => IN_NUMPY,
            Self::Matlab => IN_MATLAB,
        }
    }

    /// The program whose way is the usual one.
    fn name(self) -> &'static str {
        match self {
            Self::NumPy => "MNE",
            Self::Matlab => "EEGLAB",
        }
    }
}

/// How people keep trials in NumPy, the usual way first; behind it the one with samples and
/// channels the other way round.
const IN_NUMPY: [[Dimension; 3]; 6] = [
    [Trials, Channels, Samples],
    [Trials, Samples, Channels],
    [Channels, Samples, Trials],
    [Samples, Channels, Trials],
    [Channels, Trials, Samples],
    [Samples, Trials, Channels],
];

/// How people keep trials in MATLAB, in that order too.
const IN_MATLAB: [[Dimension; 3]; 6] = [
    [Channels, Samples, Trials],
    [Samples, Channels, Trials],
    [Trials, Channels, Samples],
    [Trials, Samples, Channels],
    [Channels, Trials, Samples],
    [Samples, Trials, Channels],
];

/// An array of trials, in the order of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cube {
    /// The slowest dimension first.
    lengths: [usize; 3],
    counts: [Dimension; 3],
}

impl Cube {
    /// `shape` and `counts` as the program shows them, whichever dimension runs fastest.
    fn new(mut shape: [usize; 3], first_fastest: bool, mut counts: [Dimension; 3]) -> Self {
        if first_fastest {
            shape.reverse();
            counts.reverse();
        }
        Self {
            lengths: shape,
            counts,
        }
    }

    fn length(&self, dimension: Dimension) -> usize {
        let at = self.counts.iter().position(|own| *own == dimension);
        at.map_or(1, |at| self.lengths[at])
    }

    pub fn n_trials(&self) -> usize {
        self.length(Trials)
    }

    pub fn n_channels(&self) -> usize {
        self.length(Channels)
    }

    /// Samples of every trial.
    pub fn trial(&self) -> usize {
        self.length(Samples)
    }

    /// The sample, counted over all trials, and the channel of a number of the file.
    pub fn place(&self, at: usize) -> (usize, usize) {
        let [_, middle, fastest] = self.lengths;
        let indices = [at / fastest / middle, at / fastest % middle, at % fastest];
        let (mut trial, mut channel, mut sample) = (0, 0, 0);
        for (dimension, index) in self.counts.iter().zip(indices) {
            match dimension {
                Trials => trial = index,
                Channels => channel = index,
                Samples => sample = index,
            }
        }
        (trial * self.trial() + sample, channel)
    }
}

/// Decides what the dimensions of an array count, as `keeper` keeps them unless something speaks
/// against it. `asked` says whether channels come before samples. The note ends the shape with
/// `what`, such as ` of F64`.
pub(crate) fn decide(
    (shape, first_fastest): ([usize; 3], bool),
    keeper: Keeper,
    asked: Option<bool>,
    evidence: &[Evidence],
    what: &str,
) -> (Cube, Layout, Note) {
    let ways = keeper.ways();
    let mut left = ways.to_vec();
    if let Some(channels_first) = asked {
        left.retain(|way| is_channels_first(way) == channels_first);
    }
    let mut why = Vec::new();
    for found in evidence {
        let (dimension, length) = match found {
            Evidence::Times(_, length) => (Samples, *length),
            Evidence::Names(_, length) => (Channels, *length),
        };
        let fits = |way: &[Dimension; 3]| {
            way.iter()
                .zip(shape)
                .any(|(own, n)| *own == dimension && n == length)
        };
        // A list of another length says nothing.
        if left.iter().any(fits) {
            left.retain(fits);
            why.push(found.told());
        }
    }
    let is_open = asked.is_none() && why.is_empty();
    let usual = Cube::new(shape, first_fastest, left[0]);
    // A trial has more samples than channels, so that the usual way is not meant.
    let is_turned = is_open && usual.n_channels() >= usual.trial().saturating_mul(CLEAR);
    let way = left[usize::from(is_turned)];
    let cube = Cube::new(shape, first_fastest, way);
    let (trials, channels, samples) = (cube.n_trials(), cube.n_channels(), cube.trial());
    let [first, second, third] = way.map(Dimension::name);
    let mut text = format!(
        "{trials} trials of {samples} samples × {channels} channels{what}, pieces of one \
         recording; dimensions are {first}, {second} and {third}"
    );
    if !why.is_empty() {
        text = format!("{text}, as {}", why.join(" and "));
    } else if is_open && !is_turned {
        text = format!("{text}, as {} has them", keeper.name());
    }
    let mut sides = way.iter().zip(shape).filter(|(own, _)| **own != Trials);
    let mut side = || sides.next().map_or(1, |(_, n)| n);
    let layout = Layout {
        shape: (side(), side()),
        transposed: is_channels_first(&way),
    };
    let note = if is_turned {
        Note::warning(format!(
            "{text}, as trials have more samples than channels: check it, --transpose takes \
             channels before samples"
        ))
    } else if is_open && channels > samples {
        Note::warning(format!(
            "{text}, but these are more channels than samples: check it, --transpose=no takes \
             samples before channels"
        ))
    } else {
        Note::detected(text)
    };
    (cube, layout, note)
}

fn is_channels_first(way: &[Dimension; 3]) -> bool {
    let at = |dimension| way.iter().position(|own| *own == dimension);
    at(Channels) < at(Samples)
}

/// How many of the samples `rows` are in each trial of so many samples; trials without any are not
/// told.
pub(crate) fn lengths(trial: usize, rows: &std::ops::Range<usize>) -> Vec<usize> {
    let mut lengths = Vec::new();
    let mut at = rows.start;
    while at < rows.end {
        let end = ((at / trial + 1) * trial).min(rows.end);
        lengths.push(end - at);
        at = end;
    }
    lengths
}

#[cfg(test)]
mod tests {
    use super::Keeper::{Matlab, NumPy};
    use super::*;

    fn check(
        (shape, keeper): ([usize; 3], Keeper),
        asked: Option<bool>,
        evidence: &[Evidence],
        (trials, channels, samples): (usize, usize, usize),
        note: &str,
    ) {
        let array = (shape, keeper == Keeper::Matlab);
        let (cube, layout, found) = decide(array, keeper, asked, evidence, "");
        assert_eq!(cube.n_trials(), trials, "{shape:?}");
        assert_eq!(cube.n_channels(), channels, "{shape:?}");
        assert_eq!(cube.trial(), samples, "{shape:?}");
        assert_eq!(layout.samples_and_channels(), (samples, channels));
        assert!(found.to_string().contains(note), "{found}");
        // What was decided once is decided again when it is asked for.
        let again = decide(array, keeper, Some(layout.transposed), evidence, "");
        assert_eq!((again.0, again.1), (cube, layout), "{shape:?}");
    }

    #[test]
    fn dimensions_are_those_of_the_program_unless_lists_say_otherwise() {
        let names = [Evidence::Names("label".into(), 5)];
        let times = [
            Evidence::Names("label".into(), 5),
            Evidence::Times("time".into(), 40),
        ];
        let mne = "dimensions are trials, channels and samples, as MNE has them";
        check(([9, 5, 40], NumPy), None, &[], (9, 5, 40), mne);
        let eeglab = "dimensions are channels, samples and trials, as EEGLAB has them";
        check(([5, 40, 9], Matlab), None, &[], (9, 5, 40), eeglab);
        let asked = "dimensions are trials, samples and channels";
        check(([9, 40, 5], NumPy), Some(false), &[], (9, 5, 40), asked);
        let label = "samples and channels, as `label` names 5 channels";
        check(([9, 40, 5], NumPy), None, &names, (9, 5, 40), label);
        let both = "trials, channels and samples, as `label` names 5 channels and `time` holds 40";
        check(([9, 5, 40], Matlab), None, &times, (9, 5, 40), both);
        let open = "warning: 9 trials of 8 samples × 16 channels, pieces of one recording; \
                    dimensions are trials, channels and samples, as MNE has them, but these are \
                    more channels than samples: check it, --transpose=no";
        check(([9, 16, 8], NumPy), None, &[], (9, 16, 8), open);
        let turned = "warning: 9 trials of 200 samples × 4 channels, pieces of one recording; \
                      dimensions are trials, samples and channels, as trials have more samples \
                      than channels: check it, --transpose";
        check(([9, 200, 4], NumPy), None, &[], (9, 4, 200), turned);
    }

    #[test]
    fn every_number_has_its_place() {
        let number =
            |trial: usize, channel: usize, sample: usize| 100 * trial + 10 * channel + sample;
        for first_fastest in [false, true] {
            for asked in [Some(true), Some(false)] {
                for shape in [[2, 3, 4], [4, 2, 3], [3, 4, 2]] {
                    let (cube, _, _) = decide((shape, first_fastest), NumPy, asked, &[], "");
                    let mut seen: Vec<usize> = (0..24)
                        .map(|at| {
                            let (row, channel) = cube.place(at);
                            number(row / cube.trial(), channel, row % cube.trial())
                        })
                        .collect();
                    seen.sort_unstable();
                    let mut all: Vec<usize> = Vec::new();
                    for trial in 0..cube.n_trials() {
                        for channel in 0..cube.n_channels() {
                            all.extend((0..cube.trial()).map(|t| number(trial, channel, t)));
                        }
                    }
                    assert_eq!(seen, all);
                }
            }
        }
        let (cube, _, _) = decide(([2, 3, 4], false), NumPy, None, &[], "");
        assert_eq!(cube.place(12 + 4 + 3), (7, 1));
        let (cube, _, _) = decide(([3, 4, 2], true), Matlab, None, &[], "");
        assert_eq!(cube.place(12 + 3 + 2), (5, 2));
    }

    #[test]
    fn a_span_cuts_trials() {
        assert_eq!(lengths(4, &(0..12)), [4, 4, 4]);
        assert_eq!(lengths(4, &(3..9)), [1, 4, 1]);
        assert_eq!(lengths(4, &(5..7)), [2]);
    }
}
