//! One source of each kind, sources that are none, and what is missing or short. How often labels
//! are right over many is measured by `strt-lab labels`.

use std::f64::consts::{PI, TAU};
use strt_label::{Kind, Label, Subject, label, label_pieces};
use strt_signal::montage;
use strt_signal::pieces::Pieces;

/// Numbers from 0 to 1 that look random.
struct Noise(u64);

impl Noise {
    fn uniform(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Nearly Gaussian, of variance 1.
    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.uniform()).sum::<f64>() - 6.0
    }

    fn white(&mut self, n: usize) -> Vec<f64> {
        (0..n).map(|_| self.normal()).collect()
    }
}

fn bump(t: f64, width: f64) -> f64 {
    (-t * t / (2.0 * width * width)).exp()
}

/// A QRS complex and a T wave at beats whose distance varies by some percent.
fn heart(rate: f64, seconds: f64, per_minute: f64) -> Vec<f64> {
    let mut noise = Noise(3);
    let mut source = noise.white((rate * seconds) as usize);
    source.iter_mut().for_each(|v| *v *= 0.05);
    let mut beat = 0.3;
    while beat < seconds {
        for (t, slot) in source.iter_mut().enumerate() {
            let after = t as f64 / rate - beat;
            *slot += bump(after, 0.012) + 0.2 * bump(after - 0.25, 0.04);
        }
        beat += 60.0 / per_minute * (1.0 + 0.03 * noise.normal());
    }
    source
}

fn sine(f: f64, rate: f64, n: usize) -> Vec<f64> {
    (0..n).map(|t| (TAU * f * t as f64 / rate).sin()).collect()
}

fn alone(source: &[f64], rate: f64) -> Option<Label> {
    label(&Subject::alone(source, Some(rate)))
}

fn check(source: &[f64], rate: f64, expected: Kind) -> Label {
    let found = alone(source, rate).unwrap_or_else(|| panic!("no label, not {expected:?}"));
    assert_eq!(found.kind, expected, "{found:?}");
    assert!((0.5..=1.0).contains(&found.confidence), "{found:?}");
    found
}

fn cap() -> (Vec<String>, Vec<Option<[f64; 2]>>) {
    let names = [
        "Fp1", "Fp2", "F7", "F3", "Fz", "F4", "F8", "T7", "C3", "Cz", "C4", "T8", "P7", "P3", "Pz",
        "P4", "P8", "O1", "O2",
    ]
    .map(String::from)
    .to_vec();
    let places = montage::places(&names, &[]);
    (names, places)
}

fn blinks(rate: f64) -> Vec<f64> {
    let mut noise = Noise(9);
    let mut source = noise.white((40.0 * rate) as usize);
    source.iter_mut().for_each(|v| *v *= 0.05);
    for (i, start) in [1.0, 3.5, 9.0, 10.2, 17.0, 19.0, 26.0, 33.3]
        .into_iter()
        .enumerate()
    {
        for t in 0..(0.3 * rate) as usize {
            let height = 1.0 + 0.1 * (i % 3) as f64;
            source[(start * rate) as usize + t] += height * (PI * t as f64 / (0.3 * rate)).sin();
        }
    }
    source
}

#[test]
fn hearts_have_their_rate() {
    let found = check(&heart(250.0, 30.0, 72.0), 250.0, Kind::Heart);
    assert!(
        (found.frequency.unwrap() * 60.0 - 72.0).abs() < 3.0,
        "{found:?}"
    );
    assert!(found.name().starts_with("heart, 7") && found.reason.contains("times a minute"));
    check(&heart(500.0, 10.0, 140.0), 500.0, Kind::Heart);
    let fast = heart(1000.0, 10.0, 60.0);
    check(&fast, 1000.0, Kind::Heart);
}

#[test]
fn gaps_are_no_beats_and_no_pauses() {
    let mut source = heart(250.0, 40.0, 72.0);
    source[2000..3500].fill(f64::NAN);
    source[5000..5010].fill(f64::NAN);
    let found = check(&source, 250.0, Kind::Heart);
    assert!(
        (found.frequency.unwrap() * 60.0 - 72.0).abs() < 3.0,
        "{found:?}"
    );
}

#[test]
fn a_clock_is_no_heart() {
    // Every 0.8 s exactly.
    let source: Vec<f64> = (0..7500)
        .map(|t| bump((t % 200) as f64 / 250.0 - 0.4, 0.012))
        .collect();
    assert_ne!(
        alone(&source, 250.0).map(|found| found.kind),
        Some(Kind::Heart)
    );
    let sine = sine(1.2, 250.0, 7500);
    assert_eq!(alone(&sine, 250.0).unwrap().kind, Kind::Rhythm);
}

#[test]
fn breath_blinks_and_muscle() {
    let rate = 100.0;
    let mut phase = 0.0;
    let mut noise = Noise(5);
    let breath: Vec<f64> = (0..6000)
        .map(|t| {
            phase += TAU * 0.25 / rate * (1.0 + 0.2 * (t as f64 / 900.0).sin());
            phase.sin() + 0.1 * noise.normal()
        })
        .collect();
    let found = check(&breath, rate, Kind::Breath);
    assert!((found.frequency.unwrap() - 0.25).abs() < 0.04, "{found:?}");
    check(&blinks(rate), rate, Kind::Blink);
    let white = noise.white(30_000);
    let muscle: Vec<f64> = white
        .windows(2)
        .enumerate()
        .map(|(t, pair)| {
            let force = if (t / 1500) % 2 == 0 { 1.0 } else { 0.1 };
            force * (pair[1] - 0.9 * pair[0])
        })
        .collect();
    check(&muscle, 500.0, Kind::Muscle);
}

#[test]
fn line_noise_of_both_grids_and_beside_them() {
    for (f, expected) in [(50.0, 50.0), (60.0, 60.0), (59.9, 60.0)] {
        let found = check(&sine(f, 250.0, 5000), 250.0, Kind::LineNoise);
        assert_eq!(found.frequency, Some(expected));
    }
    let mut harmonics = sine(50.0, 1000.0, 20_000);
    for (slot, third) in harmonics.iter_mut().zip(sine(150.0, 1000.0, 20_000)) {
        *slot += 0.7 * third;
    }
    check(&harmonics, 1000.0, Kind::LineNoise);
    check(&sine(54.0, 250.0, 5000), 250.0, Kind::Rhythm);
    // Half the sampling rate is no place to see 50 Hz at.
    let folded = alone(&sine(49.5, 100.0, 5000), 100.0).map(|found| found.kind);
    assert_ne!(folded, Some(Kind::LineNoise));
}

#[test]
fn steps_trends_drifts_rhythms_and_white_noise_need_no_rate() {
    let mut noise = Noise(11);
    let mut noisy = |f: &dyn Fn(f64) -> f64| -> Vec<f64> {
        (0..4000)
            .map(|t| f(t as f64 / 4000.0) + 0.1 * noise.normal())
            .collect()
    };
    let cases = [
        (noisy(&|u| if u < 0.4 { 0.0 } else { 1.0 }), Kind::Step),
        (noisy(&|u| -2.0 * u), Kind::Trend),
        (
            noisy(&|u| (7.0 * u).sin() + (13.0 * u + 1.0).cos()),
            Kind::Drift,
        ),
        (noisy(&|u| (1500.0 * u).sin()), Kind::Rhythm),
        (noisy(&|_| 0.0), Kind::WhiteNoise),
    ];
    for (source, expected) in cases {
        let found = label(&Subject::alone(&source, None)).expect("a label");
        assert_eq!(found.kind, expected, "{found:?}");
    }
    let found = label(&Subject::alone(&sine(0.1, 1.0, 2000), None)).unwrap();
    assert_eq!(found.name(), "rhythm, 0.1 cycles per sample");
}

#[test]
fn without_a_rate_nothing_is_said_of_bodies() {
    let source = heart(250.0, 30.0, 72.0);
    let found = label(&Subject::alone(&source, None));
    assert!(found.is_none_or(|found| found.kind != Kind::Heart));
}

#[test]
fn maps_decide_about_eyes_and_faults() {
    let (channels, places) = cap();
    let rate = 128.0;
    let blinks = blinks(rate);
    let with = |source: &[f64], weights: Vec<f64>| {
        label(&Subject {
            source,
            rate: Some(rate),
            weights: &weights,
            channels: &channels,
            places: &places,
        })
    };
    let weights = |field: &dyn Fn([f64; 2]) -> f64| -> Vec<f64> {
        places.iter().map(|place| field(place.unwrap())).collect()
    };
    let forehead = weights(&|[_, y]| (y - 0.2).max(0.0));
    let occiput = weights(&|[_, y]| (-y - 0.2).max(0.0));
    let found = with(&blinks, forehead).unwrap();
    assert!(
        found.kind == Kind::Blink && found.reason.contains("forehead"),
        "{found:?}"
    );
    assert!(with(&blinks, occiput).is_none_or(|found| found.kind != Kind::Blink));

    // Glances: levels that last about a second.
    let mut noise = Noise(21);
    let mut level = 0.0;
    let glances: Vec<f64> = (0..5120)
        .map(|t| {
            if t % 97 == 0 {
                level = noise.normal();
            }
            level + 0.1 * noise.normal()
        })
        .collect();
    let sides = weights(&|[x, y]| x * (y + 0.3).max(0.0));
    assert_eq!(with(&glances, sides).unwrap().kind, Kind::EyeMovement);

    let mut one = vec![0.02; 19];
    one[8] = 0.95;
    let found = with(&noise.white(5120), one).unwrap();
    assert!(
        found.kind == Kind::ChannelFault && found.reason.contains("C3"),
        "{found:?}"
    );
}

#[test]
fn what_fits_nothing_has_no_label() {
    let mut noise = Noise(31);
    let mut last = 0.0;
    let autoregression: Vec<f64> = (0..20_000)
        .map(|_| {
            last = 0.8 * last + noise.normal();
            last
        })
        .collect();
    let mut x = 0.3;
    let logistic: Vec<f64> = (0..20_000)
        .map(|_| {
            x = 3.99 * x * (1.0 - x);
            x
        })
        .collect();
    for source in [&autoregression, &logistic] {
        assert_eq!(alone(source, 250.0), None);
        assert_eq!(label(&Subject::alone(source, None)), None);
    }
}

#[test]
fn short_constant_empty_and_infinite_sources_have_none() {
    let nan = f64::NAN;
    let constant = [1.0; 500];
    let missing = [nan; 500];
    let mut infinite = Noise(1).white(500);
    infinite[7] = f64::INFINITY;
    for source in [&[][..], &[1.0, 2.0], &constant, &missing, &infinite] {
        assert_eq!(alone(source, 100.0), None);
    }
    // Whatever the length and the gaps, nothing panics.
    let long = heart(250.0, 12.0, 80.0);
    for n in (1..long.len()).step_by(37) {
        for rate in [
            None,
            Some(0.001),
            Some(1.0),
            Some(100.0),
            Some(250.0),
            Some(48_000.0),
        ] {
            let _ = label(&Subject::alone(&long[..n], rate));
        }
    }
    let mostly_gaps: Vec<f64> = (0..3000)
        .map(|t| if t % 40 < 9 { long[t % 2900] } else { nan })
        .collect();
    let _ = alone(&mostly_gaps, 250.0);
    let _ = alone(&sine(10.0, 250.0, 300), f64::NAN);
}

#[test]
fn pieces_are_looked_at_one_by_one() {
    // 50 Hz in every piece, with jumps of level between them that would look like steps.
    let (length, n) = (2500, 6);
    let pieces = Pieces::new(&vec![length; n], length * n).unwrap();
    let source: Vec<f64> = (0..length * n)
        .map(|t| {
            let level = if (t / length).is_multiple_of(2) {
                40.0
            } else {
                -40.0
            };
            level + (std::f64::consts::TAU * 50.0 * t as f64 / 500.0).sin()
        })
        .collect();
    let subject = Subject::alone(&source, Some(500.0));
    let found = label_pieces(&subject, &pieces).unwrap();
    assert_eq!(found.kind, Kind::LineNoise);
    assert_ne!(
        label(&subject).map(|label| label.kind),
        Some(Kind::LineNoise)
    );
    // Trials too short for anything to be said.
    let trials = Pieces::new(&vec![20; length * n / 20], length * n).unwrap();
    assert_eq!(label_pieces(&subject, &trials), None);
}
