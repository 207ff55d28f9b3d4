//! Results of StrTransformer for people: one self-contained HTML page, and the paper's figures as
//! SVG and PNG.
//!
//! In: a [`Report`], which borrows the recording, its separation and what is known about the run.
//! Out: strings and bytes. Deliberately absent: files, clocks, printing and training. Whoever ran
//! the separation says how (in [`RunFacts`]) and decides where the page is kept.
//!
//! ```
//! use strt_report::{Report, RunFacts};
//! use strtransformer::train::{History, Start, separate_observed};
//! use strtransformer::{Config, synth::ProblemSpec};
//!
//! let recording = ProblemSpec { n_samples: 300, ..ProblemSpec::default() }.generate()?.recording()?;
//! let mut config = Config::new(3);
//! # config.optimizer.steps = Some(3);
//! # config.branches.patch_sizes = vec![4, 8];
//! let mut history = History::every(10);
//! let separation = separate_observed(&recording, &config, Start::default(), &mut history)?;
//! let report = Report {
//!     recording: &recording,
//!     separation: &separation,
//!     history: history.rows(),
//!     reference: None,
//!     scores: &[],
//!     run: RunFacts { input: "recording.csv".into(), ..RunFacts::default() },
//! };
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
//! | `analysis` | what the page shows beyond the result: spectra, residuals, weights |
//! | `decimate`, `number`, `palette` | long series made short, numbers made readable, colours |
//! | `page` | sections of the page, interactive charts (Plotly), template and style |
//! | `figures` | static pictures (plotters, with a bundled font) |
//! | [`parts`] | what pages are made of, for programs that write pages of their own |
//!
//! The page loads nothing: style and scripts are inside, and its content security policy makes the
//! browser refuse requests. Long recordings are drawn as the minimum and maximum of narrow buckets,
//! so that the size of the page does not depend on the recording.

mod analysis;
mod decimate;
mod error;
mod facts;
mod figures;
mod number;
mod page;
mod palette;
pub mod parts;
mod report;

pub use analysis::mixture::Mixture;
pub use error::{Error, Result};
pub use facts::{RunFacts, ScoredStep, SourceCountEstimate};
pub use figures::Figure;
pub use page::{ComparedMethod, ComparisonPage};
pub use report::Report;
