//! Where the figures were taken: processor, instruction set, versions.

use super::worker::Worker;
use serde_json::{Value, json};
use std::process::Command;
use strt_kernels::cpu::SimdPath;

/// The machine and the versions of everything that is timed.
pub struct Machine {
    processor: String,
    cores: usize,
    instruction_set: String,
    rustc: String,
    python: Result<Value, String>,
}

impl Machine {
    pub fn look(worker: &Result<Worker, String>) -> Machine {
        Machine {
            processor: processor(),
            cores: std::thread::available_parallelism().map_or(1, |n| n.get()),
            instruction_set: format!("{:?}", SimdPath::detect()),
            rustc: output("rustc", &["--version"]).unwrap_or("rustc unknown".into()),
            python: worker
                .as_ref()
                .map(|w| w.versions.clone())
                .map_err(Clone::clone),
        }
    }

    pub fn text(&self) -> String {
        let python = match &self.python {
            Ok(v) => {
                let field = |name: &str| v[name].as_str().unwrap_or("?").to_string();
                format!(
                    "Python {}, PyTorch {} ({})",
                    field("python"),
                    field("torch"),
                    field("instruction_set")
                )
            }
            Err(why) => format!("no PyTorch: {why}"),
        };
        format!(
            "{}, {} cores, instruction set {}\nstrt {}, {}\n{python}\n",
            self.processor,
            self.cores,
            self.instruction_set,
            env!("CARGO_PKG_VERSION"),
            self.rustc,
        )
    }

    pub fn json(&self) -> Value {
        let python = match &self.python {
            Ok(versions) => versions.clone(),
            Err(why) => json!({ "missing": why }),
        };
        json!({
            "processor": self.processor,
            "cores": self.cores,
            "instruction_set": self.instruction_set,
            "strt": env!("CARGO_PKG_VERSION"),
            "rustc": self.rustc,
            "python": python,
        })
    }
}

/// First line that a program prints, if it is there and succeeds.
fn output(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let line = text.lines().next()?.trim().to_string();
    (output.status.success() && !line.is_empty()).then_some(line)
}

/// The name of the processor where the system tells it.
fn processor() -> String {
    let linux = std::fs::read_to_string("/proc/cpuinfo")
        .ok()
        .and_then(|text| {
            let line = text.lines().find(|line| line.starts_with("model name"))?;
            Some(line.split_once(':')?.1.trim().to_string())
        });
    linux
        .or_else(|| output("sysctl", &["-n", "machdep.cpu.brand_string"]))
        .or_else(|| std::env::var("PROCESSOR_IDENTIFIER").ok())
        .unwrap_or_else(|| format!("unknown {} processor", std::env::consts::ARCH))
}
