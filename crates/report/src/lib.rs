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
//! # assert!(html.len() < 1_000_000);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # How it is made
//!
//! | module | what it does |
//! |---|---|
//! | `time_scale` | the correlation time of a source |
//! | `stretch` | which part of a source is most like the whole |
//! | `samples` | the recording as text in the page |
//! | [`notes`] | verdicts, labels and events that others found |
//! | `decimate`, `number`, `palette` | long series made short, numbers made readable, colours |
//! | `page` | sections of the page; their scripts, style and templates are in `templates/` |
//! | `figures` | static pictures (plotters, with a bundled font) |
//! | [`parts`] | what pages are made of, for programs that write pages of their own |
//!
//! The page loads nothing: style, scripts and samples are inside, and its content security policy
//! makes the browser refuse requests. The charts are drawn by a few hundred lines of our own, a
//! hundredth of the size of a chart library. Recordings that are too long to be held sample by
//! sample are held as the minimum, maximum and mean of narrow buckets (`samples`).

mod decimate;
mod error;
mod figures;
pub mod notes;
mod number;
mod page;
mod palette;
pub mod parts;
mod report;
mod samples;
mod stretch;
mod time_scale;

pub use error::{Error, Result};
pub use figures::Figure;
pub use page::{ComparedMethod, ComparisonPage};
pub use report::{REPORT, Report, pages};
