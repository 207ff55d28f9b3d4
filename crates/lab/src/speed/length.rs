//! Section `length`: step time against the length of the recording, with crops of fixed length.

use super::timing::{Entrant, ms};
use super::{Context, Report, setting};
use serde_json::json;
use std::error::Error;
use strt_cli::table::table;
use strtransformer::Trainer;

const LENGTHS: [usize; 4] = [1_000, 10_000, 100_000, 1_000_000];
const CROP: usize = 512;
const N_SOURCES: usize = 3;
const N_CHANNELS: usize = 6;

pub fn measure(context: &mut Context) -> Result<Report, Box<dyn Error>> {
    let mut json = Vec::new();
    let mut rows = Vec::new();
    for &threads in &context.threads {
        let mut entrants = Vec::new();
        for n_samples in LENGTHS {
            eprintln!("  {n_samples} samples, {threads} threads");
            let mut config = setting::config(N_SOURCES, threads);
            config.branches.crop = CROP;
            let recording = setting::autoregressive(n_samples, N_CHANNELS, N_SOURCES)?;
            entrants.push(Entrant::new(Trainer::new(&recording, &config)?));
        }
        for round in 1..=context.repeats {
            eprintln!("  round {round}/{}", context.repeats);
            entrants.iter_mut().for_each(|entrant| _ = entrant.run());
        }
        let shortest = entrants[0].times.clone();
        for (entrant, n_samples) in entrants.iter().zip(LENGTHS) {
            let times = &entrant.times;
            let ratios = (
                times.best() / shortest.best(),
                times.median() / shortest.median(),
            );
            rows.push(vec![
                threads.to_string(),
                n_samples.to_string(),
                ms(times.best()),
                ms(times.median()),
                format!("{:.2}", ratios.0),
                format!("{:.2}", ratios.1),
            ]);
            json.push(json!({
                "threads": threads, "n_samples": n_samples, "times": times.json(),
                "ratio_best": ratios.0, "ratio_median": ratios.1,
            }));
        }
    }
    let header = [
        "threads",
        "samples",
        "best ms",
        "median ms",
        "ratio (best)",
        "ratio (median)",
    ];
    let text = format!(
        "length: one training step by the length of the recording, affine mixer, K = {N_SOURCES}, \
         m = {N_CHANNELS}, crops of {CROP};\n\
         ratio: over the shortest recording\n\n{}",
        table(&header, &rows)
    );
    Ok(Report::new(text, json.into()))
}
