//! Work that takes long: Python keeps running beside it.
//!
//! The work happens on a thread of its own without the interpreter. The calling thread, which is
//! the one that receives Ctrl-C, wakes every 100 ms, lets Python handle its signals and hands the
//! latest step to the caller's callback. What either raises ends the work after its current step
//! and is handed out beside the result: nothing that was computed is lost.

use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, mpsc};
use std::time::Duration;
use strt_runs::Watcher;
use strtransformer::train::{StepReport, Terms};

/// How often the interpreter is asked.
const EVERY: Duration = Duration::from_millis(100);

/// What a callback is told about a step.
struct Step {
    restart: usize,
    step: usize,
    steps: usize,
    terms: Terms,
    smoothed_objective: f64,
    gradient_norm: f64,
}

/// Stands between the work and the thread that watches it.
#[derive(Default)]
pub struct Gate {
    stop: AtomicBool,
    wants_steps: bool,
    latest: Mutex<Option<Step>>,
}

impl Gate {
    /// To be called by the work after every step.
    pub fn pass(&self, report: &StepReport<'_>) -> ControlFlow<()> {
        if self.wants_steps {
            let step = Step {
                restart: report.restart,
                step: report.step,
                steps: report.steps,
                terms: report.terms,
                smoothed_objective: report.smoothed_objective,
                gradient_norm: report.gradient_norm,
            };
            *self.latest.lock().expect("nobody panics while holding it") = Some(step);
        }
        if self.stop.load(Ordering::Relaxed) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }

    /// Hands the latest step, if it is new, to the callback; says whether it asks to stop.
    fn tell(&self, py: Python<'_>, callback: Option<&Py<PyAny>>) -> PyResult<bool> {
        let step = self
            .latest
            .lock()
            .expect("nobody panics while holding it")
            .take();
        let (Some(callback), Some(step)) = (callback, step) else {
            return Ok(false);
        };
        let told = PyDict::new(py);
        told.set_item("restart", step.restart)?;
        told.set_item("step", step.step)?;
        told.set_item("max_iter", step.steps)?;
        told.set_item("objective", step.terms.total)?;
        told.set_item("smoothed_objective", step.smoothed_objective)?;
        told.set_item("reconstruction", step.terms.reconstruction)?;
        told.set_item("structure", step.terms.structure)?;
        told.set_item("separation", step.terms.separation)?;
        told.set_item("gradient_norm", step.gradient_norm)?;
        callback.call1(py, (told,))?.is_truthy(py)
    }
}

/// Looks on at a run for Python.
pub struct Look<'a> {
    gate: &'a Gate,
    stop: bool,
}

impl Look<'_> {
    /// Passes this gate after every step.
    pub fn at(gate: &Gate) -> Look<'_> {
        Look { gate, stop: false }
    }
}

impl Watcher for Look<'_> {
    fn step(&mut self, report: &StepReport<'_>) {
        self.stop = self.gate.pass(report).is_break();
    }

    fn interrupted(&mut self) -> bool {
        self.stop
    }
}

/// Runs `work` and watches it; `work` must pass the gate after every step. With the result comes
/// what was raised while it ran. A callback that gives a true value ends the work too.
pub fn watched<T: Send>(
    py: Python<'_>,
    callback: Option<Py<PyAny>>,
    work: impl FnOnce(&Gate) -> T + Send,
) -> (T, Option<PyErr>) {
    let gate = Gate {
        wants_steps: callback.is_some(),
        ..Gate::default()
    };
    let mut raised = None;
    let result = py.detach(|| {
        std::thread::scope(|scope| {
            let (done, ended) = mpsc::channel::<()>();
            let worker = scope.spawn(|| {
                let _dropped_at_the_end = done;
                work(&gate)
            });
            while ended.recv_timeout(EVERY) == Err(mpsc::RecvTimeoutError::Timeout) {
                if raised.is_some() {
                    continue;
                }
                let told = Python::attach(|py| {
                    py.check_signals()?;
                    gate.tell(py, callback.as_ref())
                });
                match told {
                    Ok(false) => {}
                    Ok(true) => gate.stop.store(true, Ordering::Relaxed),
                    Err(error) => {
                        gate.stop.store(true, Ordering::Relaxed);
                        raised = Some(error);
                    }
                }
            }
            match worker.join() {
                Ok(result) => result,
                Err(panic) => std::panic::resume_unwind(panic),
            }
        })
    });
    // The last step is told too.
    if raised.is_none()
        && let Err(error) = py
            .check_signals()
            .and_then(|()| gate.tell(py, callback.as_ref()))
    {
        raised = Some(error);
    }
    (result, raised)
}
