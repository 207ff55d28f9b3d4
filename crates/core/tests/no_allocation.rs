//! Training allocates nothing per step: a counting allocator watches whole runs of the fast engine.
//!
//! Counted is every allocation of the process between the end of the warm-up and the last step,
//! whoever makes it: draws, objective, linear algebra, updates, worker threads. The warm-up covers
//! what happens once in a run: the first use of every buffer, the unlocking of E and the assignment
//! moves, which build the permuted matrices anew.

mod common;

use common::{affine, in_pieces, neural, nonlinear, paper, recording, with_gaps};
use std::alloc::{GlobalAlloc, Layout, System};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};
use strt_synth::{ProblemSpec, SourceKind};
use strtransformer::train::StepReport;
use strtransformer::{Config, Recording, Trainer};

struct Counting;
static ALLOCATIONS: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call is passed on to the system allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller's contract is the system allocator's.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's contract is the system allocator's.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

const STEPS: usize = 200;
/// Later than the last move (half of the steps) and the unlocking.
const WARM_UP: usize = 110;

/// Allocations of each step: those of the warm-up and those after it.
fn allocations_per_step(recording: &Recording, config: &Config) -> (Vec<usize>, Vec<usize>) {
    let mut trainer = Trainer::new(recording, config).unwrap();
    let mut counts = vec![0; STEPS + 1];
    trainer.run(&mut |report: &StepReport<'_>| {
        counts[report.step] = ALLOCATIONS.load(Ordering::Relaxed);
        ControlFlow::Continue(())
    });
    assert_eq!(trainer.step(), STEPS);
    let differences = |counts: &[usize]| counts.windows(2).map(|pair| pair[1] - pair[0]).collect();
    (
        differences(&counts[1..=WARM_UP]),
        differences(&counts[WARM_UP..]),
    )
}

// One test, so that nothing else runs in this process while it counts.
#[test]
fn a_step_allocates_nothing() {
    // Two blocks of rows in the reconstruction, read in random crops.
    let mut long = nonlinear();
    (long.branches.crop, long.optimizer.block) = (256, 0);
    let mut in_blocks = nonlinear();
    (in_blocks.branches.crop, in_blocks.optimizer.block) = (256, 1000);
    let mut bent_blocks = neural();
    (bent_blocks.branches.crop, bent_blocks.optimizer.block) = (256, 1000);
    let mut moments = affine();
    (moments.branches.crop, moments.optimizer.block) = (256, 1000);
    // Matrix products large enough to be packed.
    let mut wide = long.clone();
    (wide.n_sources, wide.mixer.hidden) = (8, vec![48]);
    let spec = ProblemSpec {
        n_samples: 1500,
        n_sources: 8,
        n_channels: 24,
        ..ProblemSpec::default()
    };
    let many_channels = spec.generate().unwrap().recording().unwrap();
    let chaotic = ProblemSpec {
        kind: SourceKind::Logistic,
        ..ProblemSpec::default()
    };
    let chaotic = chaotic.generate().unwrap().recording().unwrap();
    let heavy = ProblemSpec {
        kind: SourceKind::SegmentLaplace,
        ..ProblemSpec::default()
    };
    let heavy = heavy.generate().unwrap().recording().unwrap();
    let cases = [
        ("affine, forecasts", affine(), chaotic),
        ("neural, heavy tails", neural(), heavy),
        ("affine", affine(), recording(300)),
        ("affine, missing samples", affine(), with_gaps(300)),
        ("affine, pieces", affine(), in_pieces(300)),
        ("nonlinear, pieces", nonlinear(), in_pieces(300)),
        (
            "neural, in blocks, pieces",
            bent_blocks.clone(),
            in_pieces(5000),
        ),
        ("nonlinear", nonlinear(), recording(300)),
        ("nonlinear, long", long, recording(5000)),
        ("nonlinear, in blocks", in_blocks, recording(5000)),
        ("neural", neural(), recording(300)),
        ("neural, in blocks", bent_blocks.clone(), recording(5000)),
        (
            "neural, in blocks, missing samples",
            bent_blocks,
            with_gaps(5000),
        ),
        ("affine, through moments", moments, recording(5000)),
        ("nonlinear, wide", wide, many_channels),
        ("paper", paper(), recording(300)),
    ];
    let mut seen = 0;
    for (what, mut config, recording) in cases {
        config.optimizer.steps = Some(STEPS);
        for threads in [1, 2] {
            config.threads = threads;
            let (warm_up, per_step) = allocations_per_step(&recording, &config);
            seen += warm_up.iter().sum::<usize>();
            let total: usize = per_step.iter().sum();
            assert_eq!(
                total, 0,
                "{what}, {threads} threads: {total} allocations after the warm-up; per step: \
                 {per_step:?}"
            );
        }
    }
    assert!(
        seen > 0,
        "the counter must see at least the assignment moves"
    );
}
