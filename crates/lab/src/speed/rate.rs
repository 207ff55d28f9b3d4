//! Section `rate`: floating-point operations per second of the engine's step, against a plain
//! matrix product. What is counted: [`strt_kernels::flops`].

use super::engine_step::{EngineStep, pool};
use super::timing::{Times, WARM_UP, ms, steps_per_turn};
use super::worker::seconds;
use super::{Context, Report, setting};
use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, Par};
use serde_json::json;
use std::error::Error;
use std::time::Instant;
use strt_cli::table::table;
use strt_kernels::cpu::SimdPath;

/// Side of the square matrices of the product.
const SIDE: usize = 1024;

/// Products per turn.
const PRODUCTS: usize = 5;

/// What is timed at one number of threads.
struct Line {
    threads: usize,
    pool: rayon::ThreadPool,
    engine: EngineStep,
    step: Times,
    product: Times,
    torch: Times,
}

pub fn measure(context: &mut Context) -> Result<Report, Box<dyn Error>> {
    let mut noise = setting::Uniform(1);
    let mut matrix = || Mat::from_fn(SIDE, SIDE, |_, _| noise.next() as f32);
    let (a, b) = (matrix(), matrix());
    let mut lines = Vec::new();
    for &threads in &context.threads {
        lines.push(Line {
            threads,
            pool: pool(threads)?,
            engine: EngineStep::case_study(SimdPath::detect())?,
            step: Times::default(),
            product: Times::default(),
            torch: Times::default(),
        });
    }
    let mut out = Mat::zeros(SIDE, SIDE);
    for round in 1..=context.repeats {
        eprintln!("  round {round}/{}", context.repeats);
        for line in &mut lines {
            let warm = line.engine.time(&line.pool, WARM_UP);
            let turn = line
                .engine
                .time(&line.pool, steps_per_turn(warm[WARM_UP - 1]));
            line.step.extend(turn);
            for _ in 0..PRODUCTS {
                let began = Instant::now();
                product(&line.pool, line.threads, &a, &b, &mut out);
                line.product.extend([began.elapsed().as_secs_f64()]);
            }
            if let Ok(worker) = &mut context.worker {
                let request = json!({
                    "command": "sgemm", "threads": line.threads, "size": SIDE, "repeats": PRODUCTS,
                });
                line.torch.extend(seconds(&worker.ask(&request)?));
            }
        }
    }
    let operations = lines[0].engine.flops().total() as f64;
    Ok(summary(&lines, operations))
}

/// out = a·b, the columns shared out over the threads.
fn product(
    pool: &rayon::ThreadPool,
    threads: usize,
    a: &Mat<f32>,
    b: &Mat<f32>,
    out: &mut Mat<f32>,
) {
    pool.scope(|scope| {
        let (mut rest, mut first) = (out.as_mut(), 0);
        for part in 0..threads {
            let n = rest.ncols() / (threads - part);
            let (columns, others) = rest.split_at_col_mut(n);
            let factor = b.as_ref().subcols(first, n);
            scope
                .spawn(move |_| matmul(columns, Accum::Replace, a.as_ref(), factor, 1.0, Par::Seq));
            (rest, first) = (others, first + n);
        }
    });
}

fn summary(lines: &[Line], operations: f64) -> Report {
    let product = 2.0 * (SIDE as f64).powi(3);
    let rates = |line: &Line| {
        (
            operations / line.step.best() / 1e9,
            product / line.product.best() / 1e9,
        )
    };
    let row = |line: &Line| {
        let (step, sgemm) = rates(line);
        let torch = product / line.torch.best() / 1e9;
        vec![
            line.threads.to_string(),
            ms(line.step.best()),
            ms(line.step.median()),
            format!("{step:.1}"),
            format!("{sgemm:.1}"),
            format!("{:.0} %", 100.0 * step / sgemm),
            if torch.is_nan() {
                "-".into()
            } else {
                format!("{torch:.1}")
            },
            format!("{:.2}", lines[0].step.best() / line.step.best()),
        ]
    };
    let rows: Vec<Vec<String>> = lines.iter().map(row).collect();
    let header = [
        "threads",
        "best ms",
        "median ms",
        "step GFLOP/s",
        "product GFLOP/s",
        "share",
        "product in PyTorch",
        "speed-up",
    ];
    let text = format!(
        "rate: the engine's part of the step (branches and their Adam), {:.1} MFLOP, against a \
         product of {SIDE}² matrices\n\
         in f32 (faer); rates are those of the best turn, the speed-up is over the first line\n\n\
         {}",
        operations / 1e6,
        table(&header, &rows)
    );
    let json = lines.iter().map(|line| {
        let (step, sgemm) = rates(line);
        json!({
            "threads": line.threads, "step": line.step.json(), "product": line.product.json(),
            "product_pytorch": line.torch.json(), "step_gflops": step, "product_gflops": sgemm,
            "share": step / sgemm, "speed_up": lines[0].step.best() / line.step.best(),
        })
    });
    let json = json!({ "flop_per_step": operations, "lines": json.collect::<Vec<_>>() });
    Report::new(text, json)
}
