//! Section `instructions`: instructions of one step of the engine, counted by valgrind's callgrind.
//! Unlike a time it does not depend on what else the machine does.

use super::{Report, child};
use serde_json::json;
use std::error::Error;
use std::path::Path;
use std::process::Command;
use strt_cli::table::table;
use strt_kernels::cpu::SimdPath;

/// Two runs; their difference holds steps only.
const STEPS: (usize, usize) = (1, 3);

pub fn measure() -> Result<Report, Box<dyn Error>> {
    let title =
        "instructions: of one step of the engine (case study, one thread), counted by callgrind\n";
    let missing = |why: String| {
        let text = format!("{title}Not counted: {why}.\n");
        Ok(Report::new(text, json!({ "measured": false, "why": why })))
    };
    if let Err(error) = Command::new("valgrind").arg("--version").output() {
        return missing(format!(
            "valgrind did not start ({error}); install it with the system's package manager"
        ));
    }
    // valgrind knows no AVX-512.
    let paths = [(SimdPath::Avx2, "avx2"), (SimdPath::Portable, "portable")];
    let folder = tempfile::tempdir()?;
    let (mut rows, mut json) = (Vec::new(), Vec::new());
    for (_, name) in paths.into_iter().filter(|(path, _)| path.is_available()) {
        eprintln!("  {name}");
        let counts = count(STEPS.0, name, folder.path())
            .and_then(|few| Ok((few, count(STEPS.1, name, folder.path())?)));
        let (few, many) = match counts {
            Ok(counts) => counts,
            Err(why) => return missing(why),
        };
        let per_step = (many as f64 - few as f64) / (STEPS.1 - STEPS.0) as f64;
        rows.push(vec![name.to_string(), format!("{:.2}", per_step / 1e6)]);
        json.push(json!({ "instruction_set": name, "instructions_per_step": per_step }));
    }
    let text = format!(
        "{title}\n{}",
        table(&["instruction set", "million instructions per step"], &rows)
    );
    Ok(Report::new(
        text,
        json!({ "measured": true, "lines": json }),
    ))
}

/// Instructions of a process that takes this many steps.
fn count(steps: usize, simd: &str, folder: &Path) -> Result<u64, String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let task = ["engine".to_string(), steps.to_string(), simd.to_string()];
    let file = folder.join("callgrind.out");
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--quiet"])
        .arg(format!("--callgrind-out-file={}", file.display()))
        .arg(program)
        .args(child::arguments(&task))
        .output()
        .map_err(|error| error.to_string())?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let last = said.lines().last().unwrap_or("").to_string();
        return Err(format!("the process under valgrind failed: {last}"));
    }
    let profile = std::fs::read_to_string(&file).map_err(|error| error.to_string())?;
    total(&profile).ok_or_else(|| "callgrind wrote no total".into())
}

/// The total of a callgrind profile.
fn total(profile: &str) -> Option<u64> {
    let line = profile.lines().find_map(|line| {
        line.strip_prefix("totals:")
            .or(line.strip_prefix("summary:"))
    })?;
    line.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::total;

    #[test]
    fn reads_the_total_of_a_profile() {
        assert_eq!(
            total("events: Ir\nfn=(1) main\n12 3\n\ntotals: 456789\n"),
            Some(456_789)
        );
        assert_eq!(total("events: Ir\n"), None);
    }
}
