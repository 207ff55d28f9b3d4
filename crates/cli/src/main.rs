//! `strt`: blind source separation from the command line.

fn main() -> std::process::ExitCode {
    strt_cli::main_from(std::env::args_os()).into()
}
