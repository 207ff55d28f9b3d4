//! Section `sources`: step time per source against the number of sources.

use super::timing::{Entrant, ms};
use super::{Context, Report, setting};
use serde_json::json;
use std::error::Error;
use strt_cli::table::table;
use strtransformer::Trainer;

const NUMBERS: [usize; 5] = [4, 8, 16, 32, 64];
const N_SAMPLES: usize = 1000;

pub fn measure(context: &mut Context) -> Result<Report, Box<dyn Error>> {
    let (mut rows, mut json, mut spreads) = (Vec::new(), Vec::new(), Vec::new());
    for &threads in &context.threads {
        let mut entrants = Vec::new();
        for k in NUMBERS {
            eprintln!("  {k} sources, {threads} threads");
            let recording = setting::autoregressive(N_SAMPLES, k, k)?;
            entrants.push(Entrant::new(Trainer::new(
                &recording,
                &setting::config(k, threads),
            )?));
        }
        for round in 1..=context.repeats {
            eprintln!("  round {round}/{}", context.repeats);
            entrants.iter_mut().for_each(|entrant| _ = entrant.run());
        }
        let (mut best_per_source, mut median_per_source) = (Vec::new(), Vec::new());
        for (entrant, k) in entrants.iter().zip(NUMBERS) {
            let times = &entrant.times;
            let best = times.best() / k as f64;
            best_per_source.push(best);
            median_per_source.push(times.median() / k as f64);
            rows.push(vec![
                threads.to_string(),
                k.to_string(),
                ms(times.best()),
                ms(times.median()),
                format!("{:.3}", best * 1e3),
                format!("{:.3}", times.median() / k as f64 * 1e3),
            ]);
            json.push(json!({
                "threads": threads, "n_sources": k, "times": times.json(),
                "best_s_per_source": best,
            }));
        }
        spreads.push((
            threads,
            spread(&best_per_source),
            spread(&median_per_source),
        ));
    }
    let header = [
        "threads",
        "sources",
        "best ms",
        "median ms",
        "best ms/source",
        "median ms/source",
    ];
    let spread_text: Vec<String> = spreads
        .iter()
        .map(|(threads, best, median)| {
            format!(
                "{:.0} % (best) and {:.0} % (median) with {threads} threads",
                100.0 * best,
                100.0 * median
            )
        })
        .collect();
    let text = format!(
        "sources: one training step by the number of sources, T = {N_SAMPLES}, m = K, five \
         scales\n\n{}\
         spread of the time per source, (largest − smallest)/mean: {}\n",
        table(&header, &rows),
        spread_text.join(", ")
    );
    let spreads: Vec<_> = spreads
        .iter()
        .map(|(n, best, median)| json!({ "threads": n, "best": best, "median": median }))
        .collect();
    Ok(Report::new(
        text,
        json!({ "lines": json, "spreads": spreads }),
    ))
}

/// (largest − smallest)/mean.
fn spread(values: &[f64]) -> f64 {
    let largest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let smallest = values.iter().copied().fold(f64::INFINITY, f64::min);
    (largest - smallest) * values.len() as f64 / values.iter().sum::<f64>()
}
