//! The problems of the benchmark: families that each ask one question.
//!
//! Those whose sources are recordings are in `recordings.rs`.
//!
//! In: how many seeds. Out: [`Case`]s. Seeds below 900 are for reporting; defaults are tuned on
//! others.

use faer::Mat;
use std::sync::Arc;
use strt_synth::{MixingKind, Problem, ProblemSpec, SourceKind};

/// Problems that ask the same question.
pub struct Family {
    pub name: &'static str,
    /// The question, for the page.
    pub about: String,
    pub cases: Vec<Case>,
    /// Runs of each problem with seeds of their own, for the stability of the branches.
    pub runs: u64,
}

/// One problem.
#[derive(Clone)]
pub struct Case {
    /// What tells it from the others of its family.
    pub name: String,
    pub spec: ProblemSpec,
    /// Real sources in place of generated ones (`recordings.rs`).
    pub sources: Option<Arc<Mat<f64>>>,
}

impl Case {
    /// Whether its sources are drawn, not given.
    pub fn is_generated(&self) -> bool {
        self.sources.is_none()
    }

    pub fn generate(&self) -> strt_synth::Result<Problem> {
        match &self.sources {
            Some(sources) => self.spec.generate_from(sources),
            None => self.spec.generate(),
        }
    }
}

/// How much is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// For every day.
    Quick,
    /// For releases.
    Full,
}

const LINEAR: [SourceKind; 5] = [
    SourceKind::Gp,
    SourceKind::GpClose,
    SourceKind::Sines,
    SourceKind::Ar,
    SourceKind::NonSmooth,
];
const SMOOTH: [SourceKind; 4] = [
    SourceKind::Gp,
    SourceKind::GpClose,
    SourceKind::Sines,
    SourceKind::Ar,
];

/// Systems of which independent runs are sources: one law for all sources of a problem.
const SYSTEMS: [SourceKind; 10] = [
    SourceKind::Lorenz,
    SourceKind::LorenzZ,
    SourceKind::Rossler,
    SourceKind::MackeyGlass,
    SourceKind::Henon,
    SourceKind::Logistic,
    SourceKind::VanDerPol,
    SourceKind::Tar,
    SourceKind::Garch,
    SourceKind::Coupled,
];

/// All families of generated problems.
pub fn generated(size: Size, first_seed: u64) -> Vec<Family> {
    let quick = size == Size::Quick;
    let seeds = |few: u64, many: u64| first_seed..first_seed + if quick { few } else { many };
    let base = ProblemSpec::default();
    let cases =
        |kinds: &[SourceKind], seeds: std::ops::Range<u64>, change: &dyn Fn(&mut ProblemSpec)| {
            let mut cases = Vec::new();
            for &kind in kinds {
                for seed in seeds.clone() {
                    let mut spec = ProblemSpec {
                        kind,
                        seed,
                        ..base.clone()
                    };
                    change(&mut spec);
                    cases.push(Case::generated(spec));
                }
            }
            cases
        };
    let family = |name, about: &str, cases| Family {
        name,
        about: about.into(),
        cases,
        runs: 1,
    };
    let some = [SourceKind::Gp, SourceKind::Ar, SourceKind::NonSmooth];
    let mut families = vec![
        Family {
            runs: 2,
            ..family(
                "linear",
                "linear suite: five kinds of sources, T = 1000, K = 3, m = 6, noise 2 %",
                cases(&LINEAR, seeds(3, 10), &|_| {}),
            )
        },
        family(
            "nonlinear",
            "nonlinear suite: four kinds × three mixings, T = 1000, K = 3, m = 6, noise 1 %",
            {
                let mixings = [MixingKind::Pnl, MixingKind::Mlp2, MixingKind::Mlp3];
                let of = |mixing| {
                    cases(&SMOOTH, seeds(1, 4), &move |spec| {
                        (spec.mixing, spec.noise) = (mixing, 0.01)
                    })
                };
                mixings.into_iter().flat_map(of).collect()
            },
        ),
        family(
            "square",
            "as many channels as sources",
            cases(&LINEAR, seeds(1, 4), &|spec| spec.n_channels = 3),
        ),
        family(
            "clean",
            "no noise",
            cases(&LINEAR, seeds(1, 4), &|spec| spec.noise = 0.0),
        ),
        family(
            "noise5",
            "noise 5 %",
            cases(&LINEAR, seeds(1, 4), &|spec| spec.noise = 0.05),
        ),
        family(
            "noise20",
            "noise 20 %",
            cases(&LINEAR, seeds(1, 4), &|spec| spec.noise = 0.2),
        ),
        family(
            "k2",
            "2 sources",
            cases(&some, seeds(1, 4), &|spec| {
                (spec.n_sources, spec.n_channels) = (2, 4)
            }),
        ),
        family(
            "k6",
            "6 sources, T = 2000",
            cases(&some, seeds(1, 4), &|spec| {
                (spec.n_sources, spec.n_channels, spec.n_samples) = (6, 12, 2000)
            }),
        ),
        family(
            "k12",
            "12 sources, T = 4000",
            cases(&some[..if quick { 1 } else { 3 }], seeds(1, 2), &|spec| {
                (spec.n_sources, spec.n_channels, spec.n_samples) = (12, 16, 4000)
            }),
        ),
        family(
            "short",
            "T = 300",
            cases(&LINEAR, seeds(1, 4), &|spec| spec.n_samples = 300),
        ),
        family(
            "long",
            "T = 10 000",
            cases(&some, seeds(1, 2), &|spec| spec.n_samples = 10_000),
        ),
        family(
            "conditioned",
            "mixing of condition 100, noise 0.2 %",
            cases(&LINEAR, seeds(1, 4), &|spec| {
                (spec.mixing, spec.noise) = (MixingKind::Conditioned { condition: 100 }, 0.002)
            }),
        ),
        family(
            "nonstationary",
            "Gaussian sources whose variance changes slowly, T = 4000",
            cases(&[SourceKind::Nonstationary], seeds(2, 6), &|spec| {
                spec.n_samples = 4000
            }),
        ),
        family(
            "varied",
            "resonances, noise of changing variance and resonances of changing strength together, 4 \
             sources, T = 1000 and 4000",
            [1000, 4000]
                .into_iter()
                .flat_map(|n_samples| {
                    cases(&[SourceKind::Varied], seeds(2, 6), &|spec| {
                        (spec.n_sources, spec.n_channels, spec.n_samples) = (4, 8, n_samples)
                    })
                })
                .collect(),
        ),
        family(
            "innovations",
            "independent samples of different distributions, and AR(1) of one spectrum with \
             Laplace innovations, T = 1000",
            cases(
                &[SourceKind::Independent, SourceKind::LaplaceAr],
                seeds(2, 6),
                &|_| {},
            ),
        ),
        family(
            "switching",
            "switching AR(2), 3 sources in 12 channels, T = 4000 (the setting of SNICA), linear \
             mixing",
            cases(&[SourceKind::SwitchingAr], seeds(2, 6), &|spec| {
                (spec.n_channels, spec.n_samples) = (12, 4000)
            }),
        ),
    ];
    if !quick {
        families.push(family(
            "longest",
            "T = 100 000",
            cases(&some, seeds(1, 1), &|spec| spec.n_samples = 100_000),
        ));
    }
    let layered = [
        (
            "tcl1",
            SourceKind::SegmentLaplace,
            MixingKind::LeakyMlp { layers: 1 },
        ),
        (
            "tcl2",
            SourceKind::SegmentLaplace,
            MixingKind::LeakyMlp { layers: 2 },
        ),
        (
            "tcl3",
            SourceKind::SegmentLaplace,
            MixingKind::LeakyMlp { layers: 3 },
        ),
        (
            "ivae1",
            SourceKind::SegmentGaussian,
            MixingKind::TanhMlp { layers: 1 },
        ),
        (
            "ivae2",
            SourceKind::SegmentGaussian,
            MixingKind::TanhMlp { layers: 2 },
        ),
        (
            "ivae3",
            SourceKind::SegmentGaussian,
            MixingKind::TanhMlp { layers: 3 },
        ),
    ];
    for (name, kind, mixing) in layered {
        let (noise, layers) = match kind {
            SourceKind::SegmentLaplace => (
                "Laplace noise with a scale",
                "leaky-ReLU layers (the setting of TCL)",
            ),
            _ => (
                "Gaussian noise with a variance",
                "tanh layers (the setting of iVAE)",
            ),
        };
        let about = format!(
            "{noise} per segment through L = {} {layers}, T = 4000",
            &name[name.len() - 1..]
        );
        let cases = cases(&[kind], seeds(1, 3), &|spec| {
            (spec.mixing, spec.noise, spec.n_samples) = (mixing, 0.0, 4000)
        });
        families.push(family(name, &about, cases));
    }
    let leaky = MixingKind::LeakyMlp { layers: 2 };
    let behind = [MixingKind::Mlp2, MixingKind::Mlp3, leaky].into_iter();
    let behind = behind.flat_map(|mixing| {
        cases(&[SourceKind::LaplaceAr], seeds(1, 3), &move |spec| {
            (spec.mixing, spec.noise, spec.n_samples) = (mixing, 0.01, 2000)
        })
    });
    families.push(family(
        "innovations-nonlinear",
        "AR(1) of one spectrum with Laplace innovations behind nonlinear mixing (the setting of \
         PCL): perceptrons of two and three layers, and two leaky-ReLU layers, T = 2000",
        behind.collect(),
    ));
    let lorenz = [SourceKind::Lorenz];
    let among = [SourceKind::LorenzBackwards, SourceKind::LorenzSurrogates];
    // (kinds, T, noise)
    let runs: [(&[SourceKind], usize, f64); 5] = [
        (&SYSTEMS, 2000, 0.01),
        (&lorenz, 1000, 0.01),
        (&lorenz, 4000, 0.01),
        (&lorenz, 2000, 0.1),
        (&among, 2000, 0.01),
    ];
    let of_runs = |(kinds, n_samples, noise)| {
        cases(kinds, seeds(1, 3), &move |spec| {
            (spec.n_channels, spec.n_samples, spec.noise) = (5, n_samples, noise)
        })
    };
    families.push(family(
        "dynamics",
        "three sources of one law: independent runs of a chaotic or noisy system, made Gaussian by \
         ranks, so that spectra and marginals are the same; five channels, noise 1 or 10 %, T = \
         1000 to 4000. In lorenzbackwards the second is played backwards and the third a \
         surrogate; in lorenzsurrogates the second and third are surrogates of the first, which \
         nothing can tell apart, so there only one source is identifiable and a MAC of 1 is not to \
         be had",
        runs.into_iter().flat_map(of_runs).collect(),
    ));
    let bent = [MixingKind::Asinh, MixingKind::Mlp2, MixingKind::Mlp3];
    let behind = bent.into_iter().flat_map(|mixing| {
        [2000, 4000].into_iter().flat_map(move |n_samples| {
            cases(&lorenz, seeds(1, 3), &move |spec| {
                (spec.mixing, spec.n_channels) = (mixing, 5);
                (spec.n_samples, spec.noise) = (n_samples, 0.01);
            })
        })
    });
    families.push(family(
        "dynamics-nonlinear",
        "three runs of the Lorenz system, made Gaussian by ranks, behind nonlinear mixing into \
         five channels: arcsinh(2·) of a linear mixture, perceptrons of two and three layers; \
         noise 1 %, T = 2000 and 4000",
        behind.collect(),
    ));
    families
}

impl Case {
    fn generated(spec: ProblemSpec) -> Case {
        Case {
            name: format!(
                "{} {} T{} K{} m{} noise {} seed {}",
                spec.kind,
                spec.mixing,
                spec.n_samples,
                spec.n_sources,
                spec.n_channels,
                spec.noise,
                spec.seed
            ),
            spec,
            sources: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suites_have_the_promised_problems() {
        let families = generated(Size::Full, 0);
        let suite = |name: &str, number: usize, noise: f64, linear: bool| {
            let family = families.iter().find(|family| family.name == name).unwrap();
            assert_eq!(family.cases.len(), number, "{name}");
            for spec in family.cases.iter().map(|case| &case.spec) {
                let size = (spec.n_samples, spec.n_sources, spec.n_channels);
                assert_eq!((size, spec.noise), ((1000, 3, 6), noise), "{name}");
                assert_eq!(spec.mixing.is_linear(), linear, "{name}");
            }
        };
        suite("linear", 50, 0.02, true);
        suite("nonlinear", 48, 0.01, false);
    }

    #[test]
    fn sources_of_one_law_come_from_every_system() {
        let count = |size: Size, name: &str| {
            let families = generated(size, 1);
            let family = families.iter().find(|family| family.name == name).unwrap();
            for spec in family.cases.iter().map(|case| &case.spec) {
                assert_eq!((spec.n_sources, spec.n_channels), (3, 5));
                assert_eq!(spec.mixing.is_linear(), name == "dynamics");
            }
            let kinds = family.cases.iter().map(|case| case.spec.kind.name());
            let kinds: std::collections::HashSet<&str> = kinds.collect();
            (family.cases.len(), kinds.len())
        };
        assert_eq!(count(Size::Quick, "dynamics"), (15, 12));
        assert_eq!(count(Size::Full, "dynamics"), (45, 12));
        assert_eq!(count(Size::Quick, "dynamics-nonlinear"), (6, 1));
        assert_eq!(count(Size::Full, "dynamics-nonlinear"), (18, 1));
    }

    #[test]
    fn every_problem_can_be_generated_and_has_a_name_of_its_own() {
        for size in [Size::Quick, Size::Full] {
            for family in generated(size, 1) {
                let mut names: Vec<&String> = family.cases.iter().map(|case| &case.name).collect();
                let number = names.len();
                names.sort();
                names.dedup();
                assert!(number > 0 && names.len() == number, "{}", family.name);
                if size == Size::Quick {
                    let problem = family.cases[0].generate().unwrap();
                    assert_eq!(problem.sources.ncols(), family.cases[0].spec.n_sources);
                }
            }
        }
    }
}
