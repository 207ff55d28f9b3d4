//! `strt-lab`: the benchmarks of StrTransformer, and the paper's claims by experiment.

fn main() -> std::process::ExitCode {
    strt_lab::main_from(std::env::args_os()).into()
}
