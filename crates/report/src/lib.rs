//! Results of StrTransformer for people: one self-contained HTML page, and the paper's figures as
//! SVG and PNG.
//!
//! In: the [`Results`](strt_runs::results::Results) of a run and what was found about them. Out:
//! strings and bytes. Deliberately absent: files, clocks, printing and training. Programs hand
//! [`pages`] to `strt-runs`, which decides where a page is kept.
//!
//! ```
//! use strt_report::Report;
//! use strt_runs::results::{Results, summary::Input};
//! use strt_runs::training::Log;
//! use strtransformer::train::{History, Start, separate_observed};
//! use strtransformer::Config;
//! use strt_synth::ProblemSpec;
//!
//! let spec = ProblemSpec { n_samples: 300, ..ProblemSpec::default() };
//! let recording = spec.generate()?.recording()?;
//! let mut config = Config::new(3);
//! # config.optimizer.steps = Some(3);
//! # config.branches.patch_sizes = vec![4, 8];
//! let mut history = History::every(10);
//! let separation = separate_observed(&recording, &config, Start::default(), &mut history)?;
//! let log = Log::of_rows(history.rows().to_vec());
//! let input = Input::in_memory("recording.csv", &recording);
//! let results = Results::new(&recording, &separation, &log, input);
//! let findings = results.findings()?;
//! let report = Report::new(&results, &findings);
//! let html: String = report.to_html()?;
//! for figure in report.figures()? {
//!     println!("{}: {} bytes of SVG, {} of PNG", figure.name, figure.svg.len(), figure.png.len());
//! }
//! # assert!(html.len() < 6_000_000);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # How it is made
//!
//! | module | what it does |
//! |---|---|
//! | `spectrum` | spectra of the sources |
//! | `decimate`, `number`, `palette` | long series made short, numbers made readable, colours |
//! | `page` | sections of the page, interactive charts (Plotly), template and style |
//! | `figures` | static pictures (plotters, with a bundled font) |
//! | [`parts`] | what pages are made of, for programs that write pages of their own |
//!
//! The page loads nothing: style and scripts are inside, and its content security policy makes the
//! browser refuse requests. Long recordings are drawn as the minimum and maximum of narrow buckets,
//! so that the size of the page does not depend on the recording.

mod decimate;
mod error;
mod figures;
mod number;
mod page;
mod palette;
pub mod parts;
mod report;
mod spectrum;

pub use error::{Error, Result};
pub use figures::Figure;
pub use page::{ComparedMethod, ComparisonPage};
pub use report::{REPORT, Report, pages};
