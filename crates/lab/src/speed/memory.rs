//! Section `memory`: peak of resident memory for a long recording, against what it has to hold.

use super::{Report, child};
use serde_json::{Value, json};
use std::error::Error;
use strt_cli::table::table;

const N_SAMPLES: usize = 1_000_000;
/// The run that measures what does not grow with the recording.
const N_SAMPLES_SHORT: usize = 10_000;
const N_CHANNELS: usize = 32;
const N_SOURCES: usize = 16;
const CROP: usize = 512;
const STEPS: usize = 36;

/// Bytes of the recording, and of the recording and two matrices of sources.
fn holds(n_samples: usize) -> (u64, u64) {
    let recording = 8 * (n_samples * N_CHANNELS) as u64;
    (
        recording,
        recording + 2 * 8 * (n_samples * N_SOURCES) as u64,
    )
}

fn peak(n_samples: usize, free: bool) -> Result<u64, String> {
    let numbers = [n_samples, N_CHANNELS, N_SOURCES, CROP, STEPS];
    let task: Vec<String> = std::iter::once("memory".to_string())
        .chain(numbers.map(|n| n.to_string()))
        .chain(free.then(|| "--free".to_string()))
        .collect();
    let printed = child::run(&task)?;
    printed
        .parse()
        .map_err(|_| format!("it printed {printed:?}"))
}

/// The bound and what was measured of one kind of run, in bytes.
struct Peak {
    constant: u64,
    bound: u64,
    measured: u64,
}

impl Peak {
    fn measure(free: bool) -> Result<Peak, String> {
        let short = peak(N_SAMPLES_SHORT, free)?;
        let constant = short.saturating_sub(holds(N_SAMPLES_SHORT).1);
        Ok(Peak {
            constant,
            bound: holds(N_SAMPLES).1 + constant,
            measured: peak(N_SAMPLES, free)?,
        })
    }

    fn verdict(&self) -> String {
        if self.measured <= self.bound {
            "within the bound".to_string()
        } else {
            format!("above it by {} MB", megabytes(self.measured - self.bound))
        }
    }

    fn json(&self) -> Value {
        json!({
            "constant_bytes": self.constant, "bound_bytes": self.bound, "peak_bytes": self.measured,
            "within": self.measured <= self.bound,
        })
    }
}

fn megabytes(bytes: u64) -> String {
    format!("{:.1}", bytes as f64 / 1e6)
}

pub fn measure() -> Result<Report, Box<dyn Error>> {
    let title = format!(
        "memory: peak of resident memory, T = {N_SAMPLES}, m = {N_CHANNELS}, K = {N_SOURCES}, \
         crops of {CROP}, {STEPS} steps and the result\n"
    );
    if !cfg!(target_os = "linux") {
        let text =
            format!("{title}Not measured: the peak is read from /proc, which only Linux has.\n");
        return Ok(Report::new(text, json!({ "measured": false })));
    }
    let peaks = Peak::measure(false).and_then(|affine| Ok([affine, Peak::measure(true)?]));
    let peaks = match peaks {
        Ok(peaks) => peaks,
        Err(why) => {
            let text = format!("{title}Not measured: the process of its own failed: {why}.\n");
            return Ok(Report::new(text, json!({ "measured": false, "why": why })));
        }
    };
    let (recording, growing) = holds(N_SAMPLES);
    let row = |name: &str, cell: &dyn Fn(&Peak) -> String| {
        let cells = peaks.iter().map(cell);
        std::iter::once(name.to_string())
            .chain(cells)
            .collect::<Vec<_>>()
    };
    let rows = [
        row("recording, T·m·8 bytes", &|_| megabytes(recording)),
        row("two matrices of sources, 2·T·K·8 bytes", &|_| {
            megabytes(growing - recording)
        }),
        row("constant, from the same run with T = 10 000", &|p| {
            megabytes(p.constant)
        }),
        row("bound, the sum", &|p| megabytes(p.bound)),
        row("measured", &|p| megabytes(p.measured)),
        row("", &Peak::verdict),
    ];
    let header = ["MB", "affine", "nonlinear, free sources (`fiber`)"];
    let text = format!("{title}\n{}", table(&header, &rows));
    let json = json!({
        "measured": true, "n_samples": N_SAMPLES, "n_channels": N_CHANNELS, "n_sources": N_SOURCES,
        "crop": CROP, "steps": STEPS, "recording_bytes": recording,
        "affine": peaks[0].json(), "nonlinear": peaks[1].json(),
    });
    Ok(Report::new(text, json))
}
