//! What is tried: settings over a preset, each with a name.
//!
//! The search takes every choice that the paper leaves open, one value at a time, over preset
//! `paper` with its own update and with Adam's, then what helps together, and combinations drawn
//! from all of them. The ablation takes the default, or what it is without the kernel energy, and
//! sets one switch back to what the paper prints.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use strt_cli::settings::Preset;

/// One configuration to be tried.
#[derive(Clone, Debug, PartialEq)]
pub struct Variant {
    pub name: String,
    pub preset: Preset,
    /// Assignments over the preset.
    pub set: Vec<&'static str>,
    /// Whether the channels are without noise.
    pub noise_free: bool,
}

/// One choice that the paper leaves open, and what is tried for it.
struct Open {
    name: &'static str,
    values: &'static [&'static str],
}

const fn open(name: &'static str, values: &'static [&'static str]) -> Open {
    Open { name, values }
}

/// What stands for channels without noise among the values.
const NOISE_FREE: &str = "noise = 0";

/// How the printed update is often meant.
const ADAM: &[&str] = &["optimizer.rule=adam"];

const OPEN: [Open; 17] = [
    open(
        "ν_y",
        &[
            "weights.observation_variance=0.1",
            "weights.observation_variance=1",
            "weights.observation_variance=10",
            "weights.observation_variance=1000",
        ],
    ),
    open("λ_str", &["weights.structure=1", "weights.structure=100"]),
    open(
        "λ_sep",
        &[
            "weights.separation=0",
            "weights.separation=1",
            "weights.separation=100",
        ],
    ),
    open(
        "λ_smooth",
        &["weights.smoothness=0", "weights.smoothness=10"],
    ),
    open("order o", &["weights.smoothness_order=first"]),
    open("λ_ent", &["weights.entropy=0", "weights.entropy=1"]),
    open("λ_gap", &["weights.gap=0", "weights.gap=10"]),
    open(
        "patch sizes",
        &[
            "branches.patch_sizes=[4,8,16]",
            "branches.patch_sizes=[8,16,32]",
            "branches.patch_sizes=[16,32,64,128]",
        ],
    ),
    open("stride ρ", &["branches.stride_ratio=0.5"]),
    open(
        "ρ_mask",
        &["branches.mask_ratio=0.2", "branches.mask_ratio=0.6"],
    ),
    open(
        "size",
        &[
            "branches.n_layers=1",
            "branches.d_model=16",
            "branches.d_model=64",
        ],
    ),
    open("first S", &["sources.init=random"]),
    open("decoder input", &["mixer.decoder_standardization=true"]),
    open("slopes", &["controller.slope_min=0.3"]),
    open("clipping", &["optimizer.clip=1"]),
    open("schedule", &["optimizer.schedule.kind=cosine"]),
    open("data", &[NOISE_FREE]),
];

/// Rates, which are others for each update.
const RATES_OF_GRADIENT: &[&str] = &[
    "optimizer.rate=0.001",
    "optimizer.rate=0.003",
    "optimizer.rate=0.03",
    "optimizer.rate=0.1",
];
const RATES_OF_ADAM: &[&str] = &[
    "optimizer.rates.sources=0.001",
    "optimizer.rates.sources=0.005",
    "optimizer.rates.networks=0.0003",
    "optimizer.rates.mixer=0.001",
];

/// What helps alone, a heavier reconstruction and a lighter separation term, together and with what
/// might help then.
const TOGETHER: [&[&str]; 7] = [
    &["weights.observation_variance=1", "weights.separation=0"],
    &["weights.observation_variance=1", "weights.separation=1"],
    &["weights.observation_variance=0.1", "weights.separation=0"],
    &["weights.observation_variance=0.1", "weights.separation=1"],
    &[
        "weights.observation_variance=1",
        "weights.separation=1",
        "optimizer.rates.sources=0.005",
    ],
    &[
        "weights.observation_variance=1",
        "weights.separation=1",
        "branches.patch_sizes=[4,8,16]",
    ],
    &[
        "weights.observation_variance=1",
        "weights.separation=1",
        "sources.init=random",
    ],
];

/// The switches of the default, each set back to what the paper prints or to what preset `paper`
/// has.
const SWITCHES: [(&str, &[&str]); 15] = [
    ("update along the gradient", &["optimizer.rule=gradient"]),
    ("S free (`direct`)", &["sources.coordinates=direct"]),
    ("S not standardised", &["sources.standardize=false"]),
    (
        "decoder input not standardised",
        &["mixer.decoder_standardization=false"],
    ),
    ("mixer by gradient", &["mixer.elimination=gradient"]),
    ("energy ℓ", &["weights.energy=raw"]),
    ("‖C − I‖²", &["weights.separation_form=decorrelation"]),
    ("grid fixed", &["branches.random_start=false"]),
    ("sign fixed", &["branches.random_sign=false"]),
    ("positions fixed", &["branches.max_shift=0"]),
    (
        "mask token without position",
        &["branches.mask_position=false"],
    ),
    (
        "patch sizes 4 to 64",
        &["branches.patch_sizes=[4,8,16,32,64]"],
    ),
    ("slopes down to 0.02", &["controller.slope_min=0.02"]),
    ("no weight floor", &["controller.weight_floor=0"]),
    ("no moves", &["assignment.rule=none"]),
];

/// Every choice that the paper leaves open, one value at a time, under both updates; what helps,
/// together; then this many combinations under Adam.
pub fn search(combinations: usize) -> Vec<Variant> {
    let mut all = Vec::new();
    for (update, base, rates) in [
        ("gradient", &[][..], RATES_OF_GRADIENT),
        ("Adam", ADAM, RATES_OF_ADAM),
    ] {
        all.push(Variant::paper(update.to_string(), base, None));
        let choices = OPEN.iter().map(|open| (open.name, open.values));
        for (name, values) in choices.chain([("rate", rates)]) {
            for value in values {
                all.push(Variant::paper(
                    format!("{update}, {name}"),
                    base,
                    Some(value),
                ));
            }
        }
    }
    for (n, set) in TOGETHER.iter().enumerate() {
        let mut variant = Variant::paper(format!("together {}", n + 1), ADAM, None);
        variant.set.extend(*set);
        all.push(variant);
    }
    let mut rng = ChaCha8Rng::seed_from_u64(0);
    all.extend((1..=combinations).map(|n| combination(n, &mut rng)));
    all
}

/// Of every open choice one of its values, or as the preset has it.
fn combination(n: usize, rng: &mut ChaCha8Rng) -> Variant {
    let mut variant = Variant::paper(format!("combination {n}"), ADAM, None);
    let choices = OPEN.iter().map(|open| open.values);
    for values in choices.chain([RATES_OF_ADAM]) {
        let place = rng.next_u32() as usize % (values.len() + 1);
        if let Some(value) = values.get(place) {
            variant.add(value);
        }
    }
    variant
}

/// One switch at a time, from the default; without the kernel energy where `networks` says so, in
/// which case the default begins at the whitened components.
pub fn ablation(networks: bool) -> Vec<Variant> {
    let base: &[&str] = if networks {
        &["weights.kernel=0", "sources.init=pca"]
    } else {
        &[]
    };
    let name = if networks {
        "default without kernel energy"
    } else {
        "default"
    };
    let variant = |name: &str, set: &[&'static str]| Variant {
        name: name.into(),
        preset: Preset::Default,
        set: base.iter().chain(set).copied().collect(),
        noise_free: false,
    };
    let mut all = vec![variant(name, &[])];
    if !networks {
        all.push(variant("no kernel energy", &["weights.kernel=0"]));
        all.push(variant(
            "first S: whitened components",
            &["sources.init=pca"],
        ));
    }
    all.extend(SWITCHES.iter().map(|(name, set)| variant(name, set)));
    all
}

impl Variant {
    fn paper(name: String, base: &[&'static str], value: Option<&'static str>) -> Variant {
        let mut variant = Variant {
            name,
            preset: Preset::Paper,
            set: base.to_vec(),
            noise_free: false,
        };
        if let Some(value) = value {
            variant.add(value);
        }
        variant
    }

    fn add(&mut self, value: &'static str) {
        if value == NOISE_FREE {
            self.noise_free = true;
        } else {
            self.set.push(value);
        }
    }

    /// Everything that is set, for the table.
    pub fn settings(&self) -> String {
        let noise = self.noise_free.then_some(NOISE_FREE);
        let all: Vec<&str> = self.set.iter().copied().chain(noise).collect();
        all.join(" ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use strt_cli::settings::Settings;

    #[test]
    fn every_variant_can_run_and_is_there_once() {
        let mut all = search(20);
        all.extend(ablation(true));
        all.extend(ablation(false));
        let recording = strt_synth::ProblemSpec::default();
        let recording = recording.generate().unwrap().recording().unwrap();
        for (i, variant) in all.iter().enumerate() {
            let settings = Settings {
                preset: variant.preset,
                assignments: variant.set.iter().map(|text| text.to_string()).collect(),
                ..Settings::default()
            };
            let config = settings.resolve(Some(3)).unwrap_or_else(|failure| {
                panic!("{}: {failure}", variant.name);
            });
            config.check(&recording).unwrap_or_else(|error| {
                panic!("{}: {error}", variant.name);
            });
            let again = all[..i].iter().find(|other| {
                other.preset == variant.preset && other.settings() == variant.settings()
            });
            assert_eq!(again.map(|other| &other.name), None, "{}", variant.name);
        }
    }
}
