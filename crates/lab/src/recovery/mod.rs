//! `strt-lab recovery`: how well known sources are recovered, beside the classical methods and
//! other programs.
//!
//! In: families of problems and methods. Out: tables (Markdown on stdout, JSON, a page), with what
//! no method can exceed where that is known (`limits`). Problems
//! run side by side, one thread each, so the figures do not depend on the number of threads, and
//! every result is kept as soon as it is there: a benchmark that was interrupted goes on where it
//! ended. The run's seed is the problem's plus 1000: a run never shares random numbers with the
//! generator.

pub(crate) mod families;
mod limits;
mod page;
mod peers;
pub(crate) mod record;
pub(crate) mod recordings;
pub(crate) mod side_by_side;
mod tables;

use clap::Args;
use families::{Case, Family, Size};
use page::RecoveryPage;
use peers::{Peers, Script};
use record::{Key, Record, Store};
use serde_json::json;
use std::path::PathBuf;
use std::sync::Mutex;
use strt_cli::failure::{Failure, Outcome};
use strt_cli::methods::{MethodName, Task};
use strt_cli::output;
use strt_cli::settings::{MixerName, Settings};
use strt_io::write_text;

#[derive(Args)]
pub struct Recovery {
    /// The full benchmark, for releases, in place of the quick one
    #[arg(long)]
    full: bool,
    /// Families of problems, such as linear,nonlinear,real [default: all]; `list` prints them
    #[arg(long, value_delimiter = ',', value_name = "LIST")]
    families: Vec<String>,
    #[arg(
        long,
        value_delimiter = ',',
        value_name = "LIST",
        value_parser = MethodName::parse,
        help = MethodName::help()
    )]
    methods: Vec<MethodName>,
    /// Python with scikit-learn, python-picard and amica-python, to run them too (see
    /// benchmarks/requirements-peers.txt)
    #[arg(long, value_name = "PATH")]
    python: Option<PathBuf>,
    /// Run neural rivals in that Python too: TCL, PCL, iVAE and others (see docs/rivals.md)
    #[arg(long, requires = "python")]
    rivals: bool,
    /// Factor on the rivals' training steps [default: 1]
    #[arg(long, value_name = "FACTOR", requires = "rivals", value_parser = positive)]
    rivals_budget: Option<f64>,
    /// Folder of real recordings, for the families `real` and `origins`
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// First seed of the problems; defaults are tuned on seeds from 901, so figures with those
    /// prove nothing
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u64).range(..=1_000_000))]
    first_seed: u64,
    /// Training steps of StrTransformer [default: chosen by the preset]
    #[arg(long)]
    steps: Option<usize>,
    /// One value of StrTransformer's configuration, such as sources.init=sobi; may be repeated
    #[arg(long = "set", value_name = "SECTION.KEY=VALUE")]
    assignments: Vec<String>,
    /// Problems run side by side; 0 takes all cores
    #[arg(long, default_value_t = 0)]
    threads: usize,
    /// File that keeps the results, one a line; what is in it already is not run again
    #[arg(long, value_name = "FILE.jsonl")]
    results: Option<PathBuf>,
    /// Write the tables as a page too
    #[arg(long, value_name = "FILE.html")]
    page: Option<PathBuf>,
    /// Print JSON instead of Markdown
    #[arg(long)]
    json: bool,
}

fn positive(text: &str) -> std::result::Result<f64, String> {
    match text.parse() {
        Ok(value) if value > 0.0 && f64::is_finite(value) => Ok(value),
        _ => Err(format!("expected a number above 0, found `{text}`")),
    }
}

/// One thing to run.
struct Job<'a> {
    family: &'a Family,
    case: &'a Case,
    solver: Solver,
    key: Key,
}

/// Who solves a problem.
#[derive(Clone)]
enum Solver {
    Own(MethodName),
    /// A method of another program, and the versions of its packages.
    Peer(String, String),
}

impl Recovery {
    pub fn run(self) -> Outcome {
        if self.families == ["list"] {
            for family in families::generated(self.size(), self.first_seed) {
                output::print_line(&format!("{:<18} {}", family.name, family.about));
            }
            for name in ["real", "origins"] {
                output::print_line(&format!("{name:<18} real sources, with --data"));
            }
            return Ok(());
        }
        let families = self.chosen_families()?;
        let peers = self.start_peers()?;
        let versions: Vec<String> = peers.iter().map(|peers| peers.versions.clone()).collect();
        let versions = (!versions.is_empty()).then(|| versions.join(", "));
        let mut store = Store::open(self.results.as_deref())?;
        let jobs = self.jobs(&families, &peers);
        let keys: Vec<Key> = jobs.iter().map(|job| job.key.clone()).collect();
        let open: Vec<Job<'_>> = jobs
            .into_iter()
            .filter(|job| !store.has(&job.key))
            .collect();
        store = self.solve(&open, store, peers)?;
        // In the order of the families, whatever the order in which they were solved.
        let found = keys.iter().filter_map(|key| {
            store
                .records
                .iter()
                .find(|record| record.key == *key)
                .cloned()
        });
        let records: Vec<Record> = found.collect();
        self.tell(&families, &records, versions)
    }

    fn start_peers(&self) -> Outcome<Vec<Peers>> {
        let Some(python) = &self.python else {
            return Ok(Vec::new());
        };
        let mut peers = vec![Peers::start(python, &Script::peers())?];
        if self.rivals {
            let script = Script::rivals(self.rivals_budget.unwrap_or(1.0));
            peers.push(Peers::start(python, &script)?);
        }
        Ok(peers)
    }

    fn size(&self) -> Size {
        if self.full { Size::Full } else { Size::Quick }
    }

    fn chosen_families(&self) -> Outcome<Vec<Family>> {
        let mut all = families::generated(self.size(), self.first_seed);
        if let Some(data) = &self.data {
            all.extend(recordings::all(data, self.size(), self.first_seed)?);
        }
        if self.families.is_empty() {
            return Ok(all);
        }
        for name in &self.families {
            if !all.iter().any(|family| family.name == name) {
                let known: Vec<&str> = all.iter().map(|family| family.name).collect();
                let hint = if ["real", "origins"].contains(&name.as_str()) {
                    "; give the folder of recordings with --data"
                } else {
                    ""
                };
                return Err(Failure::Usage(format!(
                    "--families: expected some of {}, found `{name}`{hint}",
                    known.join(", ")
                )));
            }
        }
        all.retain(|family| self.families.iter().any(|name| name == family.name));
        Ok(all)
    }

    fn jobs<'a>(&self, families: &'a [Family], peers: &[Peers]) -> Vec<Job<'a>> {
        let own = MethodName::chosen(&self.methods);
        let mut solvers: Vec<Solver> = own.into_iter().map(Solver::Own).collect();
        for process in peers {
            let versions = &process.versions;
            let of = |name: &String| Solver::Peer(name.clone(), versions.clone());
            solvers.extend(process.methods.iter().map(of));
        }
        let mut jobs = Vec::new();
        for family in families {
            for case in &family.cases {
                for solver in &solvers {
                    let (runs, method, settings) = match solver {
                        Solver::Own(method) if method.is_random() => {
                            let steps = self
                                .steps
                                .map_or("default".into(), |steps| steps.to_string());
                            let set: String = self
                                .assignments
                                .iter()
                                .map(|text| format!(" {text}"))
                                .collect();
                            let settings =
                                format!("strt {} steps {steps}{set}", env!("CARGO_PKG_VERSION"));
                            (family.runs, method.to_string(), settings)
                        }
                        Solver::Own(method) => (
                            1,
                            method.to_string(),
                            format!("strt {}", env!("CARGO_PKG_VERSION")),
                        ),
                        Solver::Peer(name, versions) => (1, name.clone(), versions.clone()),
                    };
                    jobs.extend((0..runs).map(|run| Job {
                        family,
                        case,
                        solver: solver.clone(),
                        key: Key {
                            family: family.name.into(),
                            problem: case.name.clone(),
                            method: method.clone(),
                            run,
                            settings: settings.clone(),
                        },
                    }));
                }
            }
        }
        jobs
    }

    /// Every job with one thread of its own; results are kept as they come.
    fn solve(&self, jobs: &[Job<'_>], store: Store, peers: Vec<Peers>) -> Outcome<Store> {
        let peers = Mutex::new(peers);
        let name =
            |job: &Job<'_>| format!("{} {} {}", job.key.family, job.key.problem, job.key.method);
        side_by_side::solve(jobs, self.threads, store, name, |job| {
            self.solve_one(job, &peers)
        })
    }

    fn solve_one(&self, job: &Job<'_>, peers: &Mutex<Vec<Peers>>) -> Outcome<Record> {
        let problem = job.case.generate()?;
        let spec = &job.case.spec;
        let seed = spec.seed + 1000 * (job.key.run + 1);
        let found = match &job.solver {
            Solver::Own(method) => {
                let settings = Settings {
                    mixer: (!spec.mixing.is_linear()).then_some(MixerName::Mlp),
                    seed: Some(seed),
                    steps: self.steps,
                    assignments: self.assignments.clone(),
                    threads: Some(1),
                    ..Settings::default()
                };
                let task = Task {
                    n_sources: spec.n_sources,
                    settings,
                    start: 0,
                };
                method.run(&problem.recording()?, &task)?
            }
            Solver::Peer(name, _) => {
                let mut peers = peers.lock().expect("no worker panics");
                let process = peers
                    .iter_mut()
                    .find(|process| process.methods.contains(name))
                    .expect("jobs for peers only where there are some");
                process.run(name, problem.observations.as_ref(), spec.n_sources, seed)?
            }
        };
        debug_assert_eq!(job.family.name, job.key.family);
        Ok(Record::new(job.key.clone(), &found, &problem)?)
    }

    fn tell(&self, families: &[Family], records: &[Record], versions: Option<String>) -> Outcome {
        let is_linear = |name: &str| {
            let family = families.iter().find(|family| family.name == name);
            family
                .is_some_and(|family| family.cases.iter().all(|case| case.spec.mixing.is_linear()))
        };
        let limits = limits::of_families(families)?;
        let mut tables = vec![
            tables::overview(records, &limits),
            tables::in_short(records, &is_linear),
        ];
        tables.extend(tables::bounds(records, &limits));
        tables.push(tables::details(records));
        let about = format!(
            "strt {} on {} cores ({} {}), {}{} benchmark, first seed {}.{}",
            env!("CARGO_PKG_VERSION"),
            std::thread::available_parallelism().map_or(1, |n| n.get()),
            std::env::consts::OS,
            std::env::consts::ARCH,
            format_args!(
                "instruction set {:?}, ",
                strt_kernels::cpu::SimdPath::detect()
            ),
            if self.full { "full" } else { "quick" },
            self.first_seed,
            versions.map_or(String::new(), |versions| format!(" Peers: {versions}."))
        );
        let questions = families
            .iter()
            .map(|family| format!("{}: {}.", family.name, family.about));
        if let Some(path) = &self.page {
            let page = RecoveryPage {
                about: about.clone(),
                questions: questions.clone().collect(),
                families: tables::families(records),
                methods: tables::methods(records),
                mean_mac: tables::mean_mac(records),
                tables: &tables,
            };
            write_text(path, &page.to_html()?)?;
        }
        if self.json {
            let families: Vec<_> = families
                .iter()
                .map(|family| json!({ "name": family.name, "about": family.about }))
                .collect();
            let object = json!({ "about": about, "families": families, "records": records,
                "limits": limits });
            output::print_line(&serde_json::to_string_pretty(&object)?);
        } else {
            output::print_line(&about);
            questions.for_each(|question| output::print_line(&format!("- {question}")));
            tables
                .iter()
                .for_each(|table| output::print_line(&format!("\n{}", tables::markdown(table))));
        }
        Ok(())
    }
}
