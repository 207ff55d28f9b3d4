//! Families whose sources are real recordings: read from a folder that is not part of the project,
//! mixed with noise, and looked for.
//!
//! In: the folder. Out: families like the generated ones. A sample that a recording misses takes
//! the value before it: these columns are sources here, and sources are whole.

use super::families::{Case, Family, Size};
use faer::Mat;
use std::path::Path;
use std::sync::Arc;
use strt_cli::failure::{Failure, Outcome};
use strt_io::{ReadOptions, read_recording};
use strt_synth::ProblemSpec;

/// A stretch of one channel of a file.
struct Stretch {
    file: &'static str,
    channel: usize,
    first: usize,
}

const fn stretch(file: &'static str, channel: usize, first: usize) -> Stretch {
    Stretch {
        file,
        channel,
        first,
    }
}

impl Stretch {
    fn read(&self, data: &Path, n: usize) -> Outcome<Vec<f64>> {
        let path = data.join(self.file);
        let opened = read_recording(&path, &ReadOptions::default())?;
        let values = opened.recording.observations();
        if values.ncols() <= self.channel || values.nrows() < self.first + n {
            return Err(Failure::Failed(format!(
                "{}: expected {} samples of more than {} channels, found {} × {}",
                path.display(),
                self.first + n,
                self.channel,
                values.nrows(),
                values.ncols()
            )));
        }
        let mut last = 0.0;
        let column = values.col(self.channel).iter().map(|&value| {
            last = if value.is_nan() { last } else { value };
            last
        });
        Ok(column.skip(self.first).take(n).collect())
    }
}

/// Stretches of `n` samples as columns.
fn matrix(data: &Path, stretches: &[Stretch], n: usize) -> Outcome<Arc<Mat<f64>>> {
    let columns = stretches.iter().map(|stretch| stretch.read(data, n));
    let columns = columns.collect::<Outcome<Vec<_>>>()?;
    Ok(Arc::new(Mat::from_fn(n, columns.len(), |t, k| {
        columns[k][t]
    })))
}

/// All families of recordings.
pub fn all(data: &Path, size: Size, first_seed: u64) -> Outcome<Vec<Family>> {
    let seeds = first_seed..first_seed + if size == Size::Quick { 1 } else { 3 };
    let problems = |name: &str, sources: &Arc<Mat<f64>>, n_channels: usize, noises: &[f64]| {
        let case = |noise: f64, seed: u64| Case {
            name: format!("{name} noise {noise} seed {seed}"),
            spec: ProblemSpec {
                n_samples: sources.nrows(),
                n_sources: sources.ncols(),
                n_channels,
                noise,
                seed,
                ..ProblemSpec::default()
            },
            sources: Some(sources.clone()),
        };
        let of_noise = |&noise: &f64| seeds.clone().map(move |seed| (noise, seed));
        let all = noises.iter().flat_map(of_noise);
        all.map(|(noise, seed)| case(noise, seed))
            .collect::<Vec<_>>()
    };
    let mut alike = Vec::new();
    for (name, n, stretches) in ALIKE {
        let sources = matrix(data, stretches, *n)?;
        alike.extend(problems(name, &sources, 2 * sources.ncols(), &[0.0, 0.05]));
    }
    let pool = matrix(data, &ORIGINS, ORIGIN_SAMPLES)?;
    let mut together = Vec::new();
    for k in [4, 7, 10] {
        let sources = Arc::new(pool.subcols(0, k).to_owned());
        let name = format!("{k} origins");
        together.extend(problems(&name, &sources, k + 2, &[0.0, 0.05, 0.2]));
    }
    let family = |name, about: &str, cases| Family {
        name,
        about: about.into(),
        cases,
        runs: 1,
    };
    Ok(vec![
        family(
            "real",
            "recordings of biosignals and speech as sources, mixed linearly into twice as many \
             channels, noise 0 and 5 %",
            alike,
        ),
        family(
            "origins",
            "4, 7 and 10 recordings of different origin together (heart, breath, speech, carbon \
             dioxide, EEG, muscle, pulse, eye, heart sounds, a second voice), 2000 samples each, \
             in two channels more, noise 0, 5 and 20 %",
            together,
        ),
    ])
}

/// Recordings of one kind together, and how many samples of them.
const ALIKE: &[(&str, usize, &[Stretch])] = &[
    (
        "biosppy",
        15_000,
        &[
            stretch("biosppy_bio/ecg.txt", 0, 0),
            stretch("biosppy_bio/emg_1.txt", 0, 0),
            stretch("biosppy_bio/resp.txt", 0, 0),
            stretch("biosppy_bio/ppg.txt", 0, 0),
            stretch("biosppy_bio/bcg.txt", 0, 0),
        ],
    ),
    (
        "neurokit",
        30_000,
        &[
            stretch("neurokit_bio/bio_resting_5min_100hz.csv", 0, 0),
            stretch("neurokit_bio/bio_resting_5min_100hz.csv", 1, 0),
            stretch("neurokit_bio/bio_resting_5min_100hz.csv", 2, 0),
        ],
    ),
    (
        "speech",
        30_000,
        &[
            stretch("cmu_arctic_speech/cmu_arctic_us_aew_a0001.wav", 0, 0),
            stretch("cmu_arctic_speech/cmu_arctic_us_aew_a0002.wav", 0, 0),
            stretch("cmu_arctic_speech/cmu_arctic_us_axb_a0004.wav", 0, 0),
        ],
    ),
];

/// Samples of recordings of different origin: as many as the shortest has.
const ORIGIN_SAMPLES: usize = 2000;
/// Recordings of different origin. Voices begin where somebody speaks.
const ORIGINS: [Stretch; 10] = [
    stretch("neurokit_bio/bio_resting_5min_100hz.csv", 0, 5000),
    stretch("neurokit_bio/bio_resting_5min_100hz.csv", 2, 15_000),
    stretch("cmu_arctic_speech/cmu_arctic_us_aew_a0001.wav", 0, 12_000),
    stretch("climate/co2.csv", 0, 200),
    stretch("biosppy_bio/eeg_ec.txt", 0, 3000),
    stretch("biosppy_bio/emg_1.txt", 0, 9000),
    stretch("biosppy_bio/ppg.txt", 0, 4000),
    stretch("neurokit_bio/eog_100hz.csv", 0, 2000),
    stretch("biosppy_bio/pcg.txt", 0, 6000),
    stretch("cmu_arctic_speech/cmu_arctic_us_axb_a0004.wav", 0, 12_000),
];
