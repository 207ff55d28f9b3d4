//! `strt config`: the configuration of a preset, with a comment for every value.

use crate::failure::Outcome;
use crate::output;
use crate::settings::{MixerName, Preset};
use clap::Args;
use strt_io::config_to_commented_toml;
use strtransformer::config::MixerKind;

#[derive(Args)]
pub struct ShowConfig {
    /// The preset to print
    #[arg(long, value_enum, default_value_t = Preset::Default)]
    preset: Preset,
    /// How sources become channels
    #[arg(long, value_enum, default_value_t = MixerName::Affine)]
    mixer: MixerName,
}

impl ShowConfig {
    pub fn run(self) -> Outcome {
        let mut config = self.preset.config();
        if self.mixer == MixerName::Mlp {
            config.mixer.kind = MixerKind::Mlp;
        }
        output::print(&config_to_commented_toml(&config));
        Ok(())
    }
}
