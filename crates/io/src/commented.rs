//! A [`Config`] as TOML with a comment for every value, to be edited by a person.
//!
//! Values that are automatic stand there as comments. The text reads back as the configuration it
//! was made from.

use crate::overlay::with_automatic_values;
use std::fmt::Write;
use strtransformer::Config;
use toml::{Table, Value};

const HEADER: &str = "\
# Configuration of strt. Every value is optional: what a file does not name is as the preset has it.
# Use it with `strt separate INPUT --config FILE.toml`; single values can be set with `--set section.key=value`.
";

/// What every section and value means, by its dotted name.
#[rustfmt::skip]
const COMMENTS: &[(&str, &str)] = &[
    ("n_sources", "Number of sources K; --sources sets it."),
    ("seed", "Every random choice comes from this seed."),
    ("restarts", "Independent starts; the one with the lowest final smoothed objective is kept."),
    ("threads", "Worker threads; 0 takes all cores. It never changes a result."),
    ("engine", "Arithmetic of the branch networks: cpu (fast, f32) or reference (slow, f64, for checks)."),
    ("preprocess", "What is done to the channels before anything else; it is undone in the results."),
    ("preprocess.center", "Subtract each channel's mean."),
    ("preprocess.scale", "Divide each channel by its standard deviation."),
    ("mixer", "The observation mixer: how sources become channels."),
    ("mixer.kind", "affine, or mlp for nonlinear mixing."),
    ("mixer.hidden", "Hidden sizes of the MLP."),
    ("mixer.activation", "Nonlinearity of the MLP: tanh, gelu or leaky_relu."),
    ("mixer.skip", "Whether the MLP has a linear path beside its hidden layers."),
    ("mixer.decoder_standardization", "Feed the mixer with sources of mean 0 and variance 1."),
    ("mixer.elimination", "Output layer: least_squares (solved at every step) or gradient (trained)."),
    ("mixer.ridge", "Ridge of the least-squares problem. Automatic: 1e-6 for affine, 2e-3 otherwise."),
    ("sources", "How the source matrix S is parametrised and started."),
    ("sources.coordinates", "fiber: S = Zw·A + E, Zw whitened components; neural: Zw·A + tanh(Zw·U+b)·V; direct: S. Automatic: fiber for affine, neural otherwise."),
    ("sources.hidden", "Units of the map in neural coordinates."),
    ("sources.standardize", "Feed branches and smoothness with sources of mean 0 and variance 1, which fixes their scale."),
    ("sources.init", "random, pca (the whitened principal components), or fastica, picard, jade, amuse, sobi, nss: what that method finds."),
    ("sources.unlock", "Fraction of the steps after which E, or U, b and V, move (1: never). Automatic: 0.15 (neural), else 1 for affine and 1/3 otherwise."),
    ("sources.freedom", "How fast E moves (fiber): full, or predictable (times the share of the source that its networks predict)."),
    ("sources.epsilon", "Added to the standard deviation when sources are standardised."),
    ("branches", "Patch scales, masks and the branch Transformers."),
    ("branches.patch_sizes", "Candidate patch sizes in samples, ascending."),
    ("branches.stride_ratio", "Stride as a share of the patch size, in (0, 1]."),
    ("branches.mask_ratio", "Share of patches that are hidden and predicted, in (0, 1]."),
    ("branches.n_masks", "Mask draws per branch and step."),
    ("branches.d_model", "Token width."),
    ("branches.n_heads", "Attention heads."),
    ("branches.n_layers", "Encoder layers."),
    ("branches.ffn_ratio", "Feed-forward width as a multiple of the token width."),
    ("branches.causal", "Let a patch attend only to itself and earlier ones."),
    ("branches.random_start", "Start the patch grid at a random sample in every step."),
    ("branches.random_sign", "Show a branch its source with a random sign in every step; the sign is not identifiable."),
    ("branches.max_shift", "Shift the positional encoding by a random number of patches below this; 0 turns it off."),
    ("branches.crop", "Longest stretch of samples that a branch reads in one step; 0 reads everything."),
    ("controller", "The ordered multi-scale controller: low branch, short scale."),
    ("controller.sharpness", "How sharply a branch selects scales around its center."),
    ("controller.slope_max", "Locality slope of attention at the shortest scale."),
    ("controller.slope_min", "Locality slope at the longest scale. Where it is small, branches learn short recordings by heart."),
    ("controller.gap_floor", "Least gap between neighbouring centers."),
    ("controller.gap_target", "Gap below which the gap penalty sets in, in units of an even spacing."),
    ("controller.weight_floor", "Share of uniform weight that every scale keeps in every branch."),
    ("weights", "Weights and forms of the objective's terms. A weight of 0 removes its term."),
    ("weights.observation_variance", "The reconstruction term is |Y - Ŷ|²/(2·this). Automatic: 100 (affine), 1 (direct), 2 (fiber) or 4 (neural) per 6000 values."),
    ("weights.structure", "Weight of the structural energy. Automatic: 10·K/3."),
    ("weights.separation", "Weight of the separation term. Automatic: 1.5·structure/K (log_det), structure/K (log_det, neural) or 30/K (decorrelation)."),
    ("weights.smoothness", "Weight of the smoothness term."),
    ("weights.entropy", "Weight of the entropy of the scale weights."),
    ("weights.gap", "Weight of the gap penalty."),
    ("weights.energy", "log: ln(energy + kappa), the Gaussian log-likelihood; raw: as printed in the paper."),
    ("weights.kappa", "Automatic: 0.01 (neural), else 0.03 for affine and 0.3 otherwise."),
    ("weights.energy_block", "Samples over which errors are averaged before the logarithm; 0: all. Automatic: 64 (neural) or 0."),
    ("weights.separation_form", "log_det: -ln det of the sources' covariance (neural: of the map's Jacobian); decorrelation: |C - I|², as in the paper."),
    ("weights.smoothness_order", "first or second differences."),
    ("optimizer", "Adam, schedules, clipping, stopping."),
    ("optimizer.steps", "Training steps. Automatic: 2000."),
    ("optimizer.beta1", "Decay of Adam's first moment."),
    ("optimizer.beta2", "Decay of Adam's second moment."),
    ("optimizer.epsilon", "Adam's ε."),
    ("optimizer.weight_decay", "Decoupled weight decay of the branch networks."),
    ("optimizer.clip", "Clip the gradient to this global norm; 0 never clips."),
    ("optimizer.block", "Longer recordings are trained through second moments and random blocks of this length (neural: such blocks alone); 0: never."),
    ("optimizer.rates", "Adam's learning rate of each group of parameters; 0 freezes it."),
    ("optimizer.rates.fiber", "The fiber coordinates A."),
    ("optimizer.rates.sources", "What is free besides A. Automatic: 0.02 for S (direct), 0.001 for E (fiber), 0.004 for U, b and V (neural)."),
    ("optimizer.rates.networks", "The branch networks."),
    ("optimizer.rates.controller", "The controller's gaps."),
    ("optimizer.rates.mixer", "Mixer parameters that are not eliminated."),
    ("optimizer.schedule", "kind = \"constant\", or \"cosine\": linear warm-up over `warmup` steps, then down to the share `floor`."),
    ("optimizer.early_stopping", "Convergence, and stopping when it is reached."),
    ("optimizer.early_stopping.enabled", "Whether to stop before the last step at all."),
    ("optimizer.early_stopping.smoothing", "Decay of the exponential average of the objective."),
    ("optimizer.early_stopping.patience", "Steps without improvement after which the run counts as converged."),
    ("optimizer.early_stopping.tolerance", "What counts as an improvement, relative to max(1, |J|)."),
    ("assignment", "Moves that carry a source with its networks to another branch."),
    ("assignment.rule", "correlation_time (low branch, short time), minimal_cost or none."),
    ("assignment.at", "Fractions of the steps at which a move is made."),
];

/// The configuration as TOML, with a comment for every section and value.
///
/// ```
/// let text = strt_io::config_to_commented_toml(&strtransformer::Config::new(3));
/// assert!(text.contains("# Share of patches that are hidden and predicted"));
/// ```
pub fn config_to_commented_toml(config: &Config) -> String {
    let table = |config: &Config| Table::try_from(config).expect("a configuration is a table");
    let mut text = HEADER.to_string();
    section(
        &mut text,
        "",
        &table(config),
        &table(&with_automatic_values(config)),
    );
    text
}

/// One table: its values, then its sections. `complete` has the automatic values too.
fn section(text: &mut String, prefix: &str, table: &Table, complete: &Table) {
    let dotted = |key: &str| match prefix {
        "" => key.to_string(),
        _ => format!("{prefix}.{key}"),
    };
    // In the order of the comments, which is that of the method; a table has its own.
    let mut entries: Vec<(&String, &Value)> = complete.iter().collect();
    entries.sort_by_key(|(key, _)| COMMENTS.iter().position(|(known, _)| *known == dotted(key)));
    let mut write = |line: String| writeln!(text, "{line}").expect("a string takes text");
    for (key, example) in entries.iter().filter(|(_, value)| !value.is_table()) {
        if let Some(comment) = comment(&dotted(key)) {
            write(format!("# {comment}"));
        }
        match table.get(*key) {
            // No recording has 0 sources: it stands for a number that is still to be given.
            Some(Value::Integer(0)) if *key == "n_sources" => write(format!("# {key} = 3")),
            Some(value) => write(format!("{key} = {value}")),
            None => write(format!("# {key} = {example}")),
        }
    }
    for (key, inner_complete) in entries {
        let (Value::Table(inner_complete), Some(Value::Table(inner))) =
            (inner_complete, table.get(key))
        else {
            continue;
        };
        let name = dotted(key);
        text.push('\n');
        if let Some(comment) = comment(&name) {
            writeln!(text, "# {comment}").expect("a string takes text");
        }
        writeln!(text, "[{name}]").expect("a string takes text");
        section(text, &name, inner, inner_complete);
    }
}

fn comment(name: &str) -> Option<&'static str> {
    COMMENTS
        .iter()
        .find(|(known, _)| *known == name)
        .map(|(_, comment)| *comment)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_reads_back_as_the_configuration() {
        let mut custom = Config::nonlinear(4);
        custom.weights.kappa = Some(0.125);
        for config in [Config::new(0), Config::paper(5), custom] {
            let text = config_to_commented_toml(&config);
            assert_eq!(toml::from_str::<Config>(&text).unwrap(), config, "{text}");
        }
    }

    #[test]
    fn every_value_and_section_has_a_comment_and_every_comment_a_value() {
        let text = config_to_commented_toml(&Config::new(0));
        let commented = |line: &str| line.starts_with("# ");
        let lines: Vec<&str> = text.lines().collect();
        for pair in lines.windows(2) {
            let schedule = ["kind = ", "warmup = ", "floor = "]
                .iter()
                .any(|key| pair[1].starts_with(key));
            let needs =
                (pair[1].starts_with('[') || pair[1].contains(" = ")) && !commented(pair[1]);
            assert!(!needs || schedule || commented(pair[0]), "{}", pair[1]);
        }
        for (name, comment) in COMMENTS {
            assert!(
                text.contains(comment),
                "{name} is not part of a configuration"
            );
        }
    }
}
