//! A mixer that the caller gives starts with the parameters that it has.

mod common;

use common::{affine, recording};
use std::ops::ControlFlow;
use strtransformer::Trainer;
use strtransformer::config::{AssignmentRule, Elimination, MixerKind};
use strtransformer::internals::Inspect;
use strtransformer::mixer::{Mixer, MlpMixer};
use strtransformer::train::{Session, SessionEnd, Start, StepReport};

#[test]
fn the_first_restart_takes_it_as_it_is_and_others_draw_it_anew() {
    let mut given = MlpMixer::affine(3, 4);
    for (i, parameter) in given.parameters_mut().iter_mut().enumerate() {
        *parameter = 0.1 * i as f64 - 0.3;
    }
    let expected = given.parameters().to_vec();
    let start = Start {
        mixer: Some(Box::new(given)),
        ..Start::default()
    };
    let mut config = affine();
    config.mixer.kind = MixerKind::Custom;
    config.mixer.elimination = Elimination::Gradient;
    config.assignment.rule = AssignmentRule::None;
    config.optimizer.rates.mixer = 0.0; // what it starts with is what it keeps
    let trainer = Trainer::start(&recording(200), &config, start.clone()).unwrap();
    assert_eq!(trainer.mixer().parameters(), expected);

    (config.restarts, config.threads) = (Some(2), 2);
    let mut session = Session::new(&recording(200), &config, start).unwrap();
    let mut break_off = |_: &StepReport<'_>| ControlFlow::Break(());
    while session.state().running.len() < 2 {
        let end = session.run(&mut break_off).unwrap();
        assert_eq!(end, SessionEnd::Interrupted, "both restarts take steps");
    }
    let state = session.state();
    let mixer_of = |restart: usize| {
        let tensors = &state.running[restart].tensors;
        let mixer = tensors.get("mixer").unwrap();
        (0..mixer.nrows())
            .map(|i| mixer[(i, 0)])
            .collect::<Vec<f64>>()
    };
    assert_eq!(mixer_of(0), expected);
    assert_ne!(mixer_of(1), expected);
}
