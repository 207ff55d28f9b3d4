//! Power spectra of the sources.

use super::chart::{AxisStyle, Chart, Places, Series, lines};
use super::view::{Part, Section};
use super::{key, source_name};
use crate::{Report, palette};
use strt_signal::spectrum::{Spectrum, segment_length, welch};

/// Frequencies drawn for all sources together, so that the page stays small for many.
const POINT_BUDGET: usize = 12_000;

/// The section.
pub fn section(report: &Report<'_>) -> Section {
    let n_sources = report.n_sources();
    let rate = report.recording.sampling_rate();
    let spectra: Vec<Option<Spectrum>> = (0..n_sources)
        .map(|k| welch(&report.source_apart(k), rate.unwrap_or(1.0)))
        .collect();
    let n_segments = spectra
        .iter()
        .flatten()
        .map(|spectrum| spectrum.n_segments)
        .max();
    let parts = match n_segments {
        None => vec![Part::Text(
            "There is no stretch without missing samples that is long enough for a spectrum."
                .into(),
        )],
        Some(n_segments) => vec![
            key(n_sources),
            Part::Charts(vec![chart(&spectra, rate.is_some())]),
            Part::Caption(format!(
                "Welch's method: {n_segments} segments of {} samples that overlap by half, Hann \
                 window, mean removed{}. Both axes are logarithmic. Peaks are rhythms; a line \
                 that falls early belongs to a slow source.",
                segment_length(report.recording.n_samples()),
                match (
                    report.recording.n_missing(),
                    report.separation.pieces().is_whole()
                ) {
                    (0, true) => "",
                    (_, true) => "; segments with missing samples are left out",
                    (0, false) => "; no segment reaches from one piece into the next",
                    (_, false) => {
                        "; segments with missing samples, or of two pieces, are left out"
                    }
                },
            )),
        ],
    };
    Section {
        id: "spectra",
        title: "Power spectra",
        folded: true,
        parts,
    }
}

fn chart(spectra: &[Option<Spectrum>], in_hertz: bool) -> Chart {
    let n_sources = spectra.len();
    let series = spectra.iter().enumerate().filter_map(|(k, spectrum)| {
        let spectrum = spectrum.as_ref()?;
        // Frequency 0 has no place on a logarithmic axis, and the mean is removed anyway.
        let stride = (spectrum.density.len() * n_sources).div_ceil(POINT_BUDGET);
        let shown = (1..spectrum.density.len()).step_by(stride);
        Some(Series {
            name: source_name(k),
            x: Places::Even {
                first: spectrum.resolution,
                step: stride as f64 * spectrum.resolution,
            },
            y: shown.map(|i| spectrum.density[i]).collect(),
            color: palette::source(k, n_sources),
            width: 1.5,
        })
    });
    let (x, y) = if in_hertz {
        ("frequency (Hz)", "power density (1/Hz)")
    } else {
        ("frequency (cycles per sample)", "power density")
    };
    let chart = lines(
        "Power spectral density",
        "Line chart of the power spectral density of every source, both axes logarithmic.",
        series.collect(),
        AxisStyle::log(x),
        AxisStyle::log(y),
    );
    Chart {
        wide: true,
        height: 380,
        ..chart
    }
}
