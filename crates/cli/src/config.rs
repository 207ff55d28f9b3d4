//! `strt config`: the configuration that the arguments of a run give, with a comment for every
//! value.

use crate::failure::Outcome;
use crate::output;
use crate::settings::Settings;
use clap::Args;
use strt_io::config_to_commented_toml;

#[derive(Args)]
pub struct ShowConfig {
    #[command(flatten)]
    settings: Settings,
}

impl ShowConfig {
    pub fn run(self) -> Outcome {
        let config = self.settings.resolve(None)?;
        output::print(&config_to_commented_toml(&config));
        Ok(())
    }
}
