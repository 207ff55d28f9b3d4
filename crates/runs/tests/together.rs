//! Several that ask for the same run at the same time: one makes it.

mod common;

use common::*;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use strt_runs::{Ensured, Error, Order, Unwatched, ensure};

/// How a run may have been left.
#[derive(Clone, Copy)]
enum Left {
    Nothing,
    /// By Ctrl-C: in its place, with a checkpoint.
    Interrupted,
    /// By a kill: in the folder it was worked in.
    Killed,
}

#[test]
fn of_many_that_ask_for_a_run_one_makes_it() {
    let (place, data) = (Place::new(), Data::new(0));
    let mut order = data.order();
    (order.config.restarts, order.config.optimizer.steps) = (Some(1), Some(6));
    for round in 0..9 {
        let left = [Left::Nothing, Left::Interrupted, Left::Killed][round % 3];
        let target = place.path(&format!("run-{round}"));
        if !matches!(left, Left::Nothing) {
            ensure(&order, &target, &mut Stopper::after(3)).unwrap();
        }
        if matches!(left, Left::Killed) {
            std::fs::rename(&target, place.path(&format!("run-{round}.partial"))).unwrap();
        }
        let (made, steps) = (AtomicUsize::new(0), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let order = Order {
                        overwrite: round > 5,
                        ..order.clone()
                    };
                    let mut watcher = Stopper::default();
                    let ensured = loop {
                        match ensure(&order, &target, &mut watcher) {
                            Err(Error::Busy { .. }) => std::thread::sleep(Duration::from_millis(1)),
                            ensured => break ensured.expect("it is made, or there"),
                        }
                    };
                    made.fetch_add(
                        matches!(ensured, Ensured::Made(_)).into(),
                        Ordering::Relaxed,
                    );
                    steps.fetch_add(watcher.steps, Ordering::Relaxed);
                });
            }
        });
        let expected = if matches!(left, Left::Nothing) { 6 } else { 3 };
        assert_eq!(made.into_inner(), 1, "round {round}");
        assert_eq!(
            steps.into_inner(),
            expected,
            "round {round}: steps taken by all together"
        );
        let again = ensure(&order, &target, &mut Unwatched).unwrap();
        assert!(matches!(again, Ensured::There(_)));
        assert!(!place.path(&format!("run-{round}.partial")).exists());
    }
    let names = place.names("");
    assert_eq!(names.len(), 9, "{names:?}");
}
