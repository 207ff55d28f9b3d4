//! What has to run in a process of its own: a peak of memory, or instructions to count. Hidden from
//! the help; the sections `memory` and `instructions` start it.

use super::engine_step::{EngineStep, pool};
use super::setting;
use super::timing::time_steps;
use clap::{Args, Subcommand, ValueEnum};
use std::error::Error;
use std::process::Command;
use strt_kernels::cpu::SimdPath;
use strtransformer::Trainer;
use strtransformer::config::{Coordinates, MixerKind};

#[derive(Args)]
pub struct Child {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Train on a recording of this size, finish, and print the peak of resident memory in bytes
    Memory {
        samples: usize,
        channels: usize,
        sources: usize,
        crop: usize,
        steps: usize,
        /// With a nonlinear mixer and sources that are free from the first step
        #[arg(long)]
        free: bool,
    },
    /// Take steps of the engine on one thread
    Engine { steps: usize, simd: Simd },
}

#[derive(Clone, Copy, ValueEnum)]
enum Simd {
    Avx512,
    Avx2,
    Portable,
}

impl Child {
    pub fn run(self) -> Result<(), Box<dyn Error>> {
        match self.task {
            Task::Memory {
                samples,
                channels,
                sources,
                crop,
                steps,
                free,
            } => {
                let mut config = setting::config(sources, 0);
                config.branches.crop = crop;
                if free {
                    (config.mixer.kind, config.sources.unlock) = (MixerKind::Mlp, Some(0.0));
                    config.sources.coordinates = Some(Coordinates::Fiber);
                }
                let recording = setting::autoregressive(samples, channels, sources)?;
                let mut trainer = Trainer::new(&recording, &config)?;
                time_steps(&mut trainer, steps);
                let separation = trainer.finish();
                let peak = peak_resident()
                    .ok_or("this system does not tell the peak of resident memory")?;
                println!("{peak}");
                // Both are alive at the peak, as in a program that saves the result.
                drop((separation, recording));
            }
            Task::Engine { steps, simd } => {
                let path = match simd {
                    Simd::Avx512 => SimdPath::Avx512,
                    Simd::Avx2 => SimdPath::Avx2,
                    Simd::Portable => SimdPath::Portable,
                };
                if !path.is_available() {
                    return Err(format!("this machine has no {path:?}").into());
                }
                let mut engine = EngineStep::case_study(path)?;
                pool(1)?.install(|| (0..steps).for_each(|_| engine.take()));
            }
        }
        Ok(())
    }
}

/// Peak of this process's resident memory in bytes (Linux).
fn peak_resident() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kilobytes: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(1024 * kilobytes)
}

/// Arguments that lead a copy of this program here.
pub fn arguments(task: &[String]) -> Vec<String> {
    let command = "speed-child".to_string();
    std::iter::once(command)
        .chain(task.iter().cloned())
        .collect()
}

/// Runs a task in a copy of this program and returns what it printed.
pub fn run(task: &[String]) -> Result<String, String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let output = Command::new(program)
        .args(arguments(task))
        .output()
        .map_err(|error| error.to_string())?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).trim().to_string())
    } else {
        Err(format!(
            "{} ({})",
            String::from_utf8_lossy(&output.stderr).trim(),
            output.status
        ))
    }
}
