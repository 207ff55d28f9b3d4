//! Simulated sources of every kind, and of none.
//!
//! In: a family and a seed. Out: a source with its rate, its weights on a cap of electrodes where
//! it has any, and the kinds that are right for it. None of it is fitted to a recording.

use super::draw::{Cap, Draw, add, bump, standardized};
use std::f64::consts::{PI, TAU};
use strt_label::Kind;

/// Sources of one kind.
pub struct Family {
    pub name: &'static str,
    /// Labels that are right; none where there should be no label.
    pub right: &'static [Kind],
    make: fn(&mut Draw) -> (Vec<f64>, Option<Cap>),
}

/// A simulated source.
pub struct Simulated {
    pub source: Vec<f64>,
    pub rate: f64,
    pub cap: Option<Cap>,
}

impl Family {
    /// Whether no label is right, too.
    pub fn may_be_silent(&self) -> bool {
        self.name.starts_with("none")
    }

    pub fn draw(&self, place: usize, seed: u64) -> Simulated {
        let mut draw = Draw::new(seed, place);
        let (source, cap) = (self.make)(&mut draw);
        Simulated {
            source,
            rate: draw.rate,
            cap,
        }
    }
}

const fn family(
    name: &'static str,
    right: &'static [Kind],
    make: fn(&mut Draw) -> (Vec<f64>, Option<Cap>),
) -> Family {
    Family { name, right, make }
}

/// All families.
pub const FAMILIES: &[Family] = &[
    family(
        "heart: electrocardiogram",
        &[Kind::Heart],
        electrocardiogram,
    ),
    family("heart: foetal", &[Kind::Heart], foetal),
    family("heart: pulse wave", &[Kind::Heart], pulse_wave),
    family("breath", &[Kind::Breath], breath),
    family("blinks, on a cap", &[Kind::Blink], |d| blinks(d, true)),
    family("blinks, alone", &[Kind::Blink], |d| blinks(d, false)),
    family("eye movement, on a cap", &[Kind::EyeMovement], eye_movement),
    family("muscle in bursts", &[Kind::Muscle], muscle),
    family("line noise", &[Kind::LineNoise], line_noise),
    family("fault of one channel", &[Kind::ChannelFault], fault),
    family("step", &[Kind::Step], step),
    family("trend", &[Kind::Trend], trend),
    family("drift", &[Kind::Drift, Kind::Trend], drift),
    family("rhythm", &[Kind::Rhythm], rhythm),
    family("white noise", &[Kind::WhiteNoise], |d| (d.white(), None)),
    family("none: 1/f noise", &[], |d| {
        (d.pink(), Some(Cap::anywhere(d)))
    }),
    family("none: autoregression", &[], |d| {
        let a = d.between(0.5, 0.97) * if d.below(3) == 0 { -1.0 } else { 1.0 };
        (d.autoregressive(a), None)
    }),
    family("none: broad resonance", &[], |d| {
        let f = d.between(0.05, 0.4) * d.rate;
        let radius = d.between(0.5, 0.8);
        (d.resonance(f, radius), Some(Cap::anywhere(d)))
    }),
    family("none: Lorenz system", &[Kind::Rhythm], lorenz),
    family("none: logistic map", &[], logistic),
    family("none: Hénon map", &[], henon),
    family("none: random pulses", &[], random_pulses),
    family("none: syllables", &[], syllables),
    family("none: random telegraph", &[], telegraph),
    family("random walk", &[Kind::Drift, Kind::Trend], |d| {
        (d.autoregressive(1.0), None)
    }),
    family("square wave", &[Kind::Rhythm], |d| {
        let f = d.between(0.8, 8.0);
        let wave = (0..d.n)
            .map(|t| (TAU * f * t as f64 / d.rate).sin().signum())
            .collect();
        (d.with_background(wave, 0.2), None)
    }),
    family("none: clock of pulses", &[Kind::Rhythm], |d| {
        let period = d.between(0.5, 1.2) * d.rate;
        let shape = |t: usize| {
            let phase = (t as f64 / period).fract() * period / d.rate;
            bump(phase - 0.1, 0.0, 0.02)
        };
        ((0..d.n).map(shape).collect(), None)
    }),
];

/// Times of beats with a rate that follows the breath and wanders.
fn beats(d: &mut Draw, slowest: f64, fastest: f64) -> Vec<f64> {
    let mean = 60.0 / d.between(slowest, fastest);
    let (breath, depth) = (d.between(0.15, 0.35), d.between(0.01, 0.06));
    let jitter = d.between(0.005, 0.03);
    let (mut time, mut beats) = (0.0, Vec::new());
    while time < d.seconds() + 1.0 {
        beats.push(time);
        let modulated = 1.0 + depth * (TAU * breath * time).sin() + jitter * d.normal();
        time += mean * modulated.max(0.6);
    }
    beats
}

/// A sum of Gaussians (seconds after the beat, width, height) at every beat.
fn at_beats(d: &Draw, beats: &[f64], waves: &[(f64, f64, f64)]) -> Vec<f64> {
    let mut values = vec![0.0; d.n];
    for &beat in beats {
        for &(delay, width, height) in waves {
            let middle = (beat + delay) * d.rate;
            let reach = 5.0 * width * d.rate;
            let (from, to) = (
                (middle - reach).max(0.0) as usize,
                (middle + reach).max(0.0) as usize,
            );
            for t in from..to.min(d.n) {
                values[t] += height * bump((t as f64 - middle) / d.rate, 0.0, width);
            }
        }
    }
    values
}

fn electrocardiogram(d: &mut Draw) -> (Vec<f64>, Option<Cap>) {
    let times = beats(d, 45.0, 120.0);
    let t_wave = d.between(0.1, 0.5);
    let s_wave = d.between(-0.6, 0.1);
    let waves = [
        (-0.17, 0.025, d.between(0.05, 0.2)),
        (-0.03, 0.01, d.between(-0.3, 0.0)),
        (0.0, d.between(0.009, 0.016), 1.0),
        (0.03, 0.012, s_wave),
        (0.27, 0.045, t_wave),
    ];
    let source = at_beats(d, &times, &waves);
    (d.with_background(source, 0.3), None)
}

fn foetal(d: &mut Draw) -> (Vec<f64>, Option<Cap>) {
    let times = beats(d, 110.0, 170.0);
    let waves = [
        (-0.02, 0.008, -0.3),
        (0.0, 0.009, 1.0),
        (0.02, 0.009, d.between(-0.6, 0.0)),
    ];
    let source = at_beats(d, &times, &waves);
    (d.with_background(source, 0.4), None)
}

fn pulse_wave(d: &mut Draw) -> (Vec<f64>, Option<Cap>) {
    let times = beats(d, 45.0, 120.0);
    let second = d.between(0.2, 0.5);
    let waves = [(0.15, 0.07, 1.0), (0.35, d.between(0.1, 0.14), second)];
    let source = at_beats(d, &times, &waves);
    (d.with_background(source, 0.15), None)
}

fn breath(d: &mut Draw) -> (Vec<f64>, Option<Cap>) {
    // At least five breaths, so that there is something to be seen.
    let least = 300.0 / d.seconds();
    let per_minute = d.between(8f64.max(least), 24f64.max(1.2 * least));
    let (jitter, rise) = (d.between(0.03, 0.15), d.between(0.3, 0.5));
    let (mut wandering, wander) = (0.0, d.between(0.0, 0.15));
    let mut source = Vec::with_capacity(d.n);
    while source.len() < d.n {
        wandering = 0.9 * wandering + 0.4 * wander * d.normal();
        let stretched = (1.0 + wandering + jitter * d.normal()).clamp(0.5, 1.8);
        let length = (60.0 / per_minute * stretched * d.rate) as usize;
        // Now and then a sigh.
        let height = if d.below(25) == 0 {
            2.0
        } else {
            1.0 + 0.15 * d.normal()
        };
        for t in 0..length {
            let phase = t as f64 / length as f64;
            let bent = if phase < rise {
                0.5 * phase / rise
            } else {
                0.5 + 0.5 * (phase - rise) / (1.0 - rise)
            };
            source.push(height * -(TAU * bent).cos());
        }
    }
    source.truncate(d.n);
    (d.with_background(source, 0.2), None)
}

fn blinks(d: &mut Draw, cap: bool) -> (Vec<f64>, Option<Cap>) {
    let (every, length) = (d.between(1.5, 4.0), d.between(0.2, 0.4));
    let mut times = vec![
        d.between(0.3, 1.5),
        d.between(3.0, 5.0),
        d.between(6.0, 9.0),
    ];
    let mut time = 9.5;
    while time < d.seconds() {
        times.push(time);
        time += 0.5 + every * d.waiting();
    }
    let mut source = vec![0.0; d.n];
    for time in times {
        let (start, height) = ((time * d.rate) as usize, 1.0 + 0.2 * d.normal());
        let length = length * (1.0 + 0.1 * d.normal()) * d.rate;
        for t in 0..length.max(0.0) as usize {
            // Eyes close faster than they open.
            let phase = (t as f64 / length).powf(0.75);
            if let Some(slot) = source.get_mut(start + t) {
                *slot += height * (PI * phase).sin().powi(2);
            }
        }
    }
    let cap = cap.then(|| Cap::of(d, |[x, y]| bump(x, y - 1.05, 0.42)));
    (d.with_background(source, 0.25), cap)
}

fn eye_movement(d: &mut Draw) -> (Vec<f64>, Option<Cap>) {
    let every = d.between(0.4, 1.5);
    let (mut level, mut next) = (0.0, 0.0);
    let smoothing = (-1.0 / (0.02 * d.rate)).exp();
    let mut eye = 0.0;
    let source = (0..d.n).map(|t| {
        if t as f64 >= next * d.rate {
            level = d.normal();
            next += 0.2 + every * d.waiting();
        }
        eye = smoothing * eye + (1.0 - smoothing) * level;
        eye
    });
    let source: Vec<f64> = source.collect();
    let cap = Cap::of(d, |[x, y]| {
        bump(x - 0.65, y - 0.7, 0.4) - bump(x + 0.65, y - 0.7, 0.4)
    });
    (d.with_background(source, 0.25), Some(cap))
}

fn muscle(d: &mut Draw) -> (Vec<f64>, Option<Cap>) {
    let top = (0.45 * d.rate).min(300.0);
    let f = d.between(0.5, 0.8) * top;
    let radius = (-PI * 0.6 * top / d.rate).exp();
    let noise = standardized(&d.resonance(f, radius));
    // Contractions of some seconds, with rest between them.
    let rest = d.between(0.05, 0.3);
    let (mut contracted, mut until) = (false, 0.0);
    let smoothing = (-1.0 / (0.1 * d.rate)).exp();
    let mut force = rest;
    let source = noise.into_iter().enumerate().map(|(t, value)| {
        if t as f64 >= until * d.rate {
            contracted = !contracted;
            until += 0.4 + 1.5 * d.waiting();
        }
        let aim = if contracted { 1.0 } else { rest };
        force = smoothing * force + (1.0 - smoothing) * aim;
        force * value
    });
    let source: Vec<f64> = source.collect();
    let cap = (d.below(2) == 0).then(|| Cap::anywhere(d));
    (d.with_background(source, 0.2), cap)
}

fn line_noise(d: &mut Draw) -> (Vec<f64>, Option<Cap>) {
    d.rate = d.rate.max(128.0);
    let line = if d.below(2) == 0 { 50.0 } else { 60.0 } + 0.05 * d.normal();
    let amplitude = d.amplitude(2.0, 0.2);
    let mut source = vec![0.0; d.n];
    for multiple in 1..=5 {
        let f = line * multiple as f64;
        if f > 0.48 * d.rate {
            break;
        }
        let height = if multiple == 1 {
            1.0
        } else {
            d.between(0.0, 0.5)
        };
        let phase = d.between(0.0, TAU);
        for (t, slot) in source.iter_mut().enumerate() {
            *slot += height * amplitude[t] * (TAU * f * t as f64 / d.rate + phase).sin();
        }
    }
    let cap = (d.below(2) == 0).then(|| Cap::anywhere(d));
    (d.with_background(source, 0.3), cap)
}

fn fault(d: &mut Draw) -> (Vec<f64>, Option<Cap>) {
    let source = match d.below(3) {
        0 => d.white(),
        1 => d.pink(),
        _ => {
            // A contact that comes loose now and then.
            let mut source = standardized(&d.white());
            for _ in 0..3 + d.below(8) {
                let (at, size) = (d.below(d.n), 20.0 * d.normal());
                let decay = (-1.0 / (d.between(0.05, 0.5) * d.rate)).exp();
                let mut left = size;
                for slot in &mut source[at..] {
                    *slot += left;
                    left *= decay;
                }
            }
            source
        }
    };
    let cap = Cap::one_channel(d);
    (source, Some(cap))
}

fn step(d: &mut Draw) -> (Vec<f64>, Option<Cap>) {
    let count = 1 + d.below(3);
    let mut source = vec![0.0; d.n];
    for i in 0..count {
        let share = (i as f64 + d.between(0.2, 0.8)) / count as f64;
        let size = d.between(0.8, 2.0) * if d.below(2) == 0 { 1.0 } else { -1.0 };
        for slot in &mut source[(share * d.n as f64) as usize..] {
            *slot += size;
        }
    }
    (d.with_background(source, 0.15), None)
}

fn trend(d: &mut Draw) -> (Vec<f64>, Option<Cap>) {
    let bend = d.between(-1.5, 1.5);
    let sign = if d.below(2) == 0 { 1.0 } else { -1.0 };
    let source = (0..d.n).map(|t| {
        let u = t as f64 / d.n as f64;
        sign * if bend.abs() < 0.1 {
            u
        } else {
            ((bend * u).exp() - 1.0) / bend
        }
    });
    let source = source.collect();
    (d.with_background(source, 0.15), None)
}

fn drift(d: &mut Draw) -> (Vec<f64>, Option<Cap>) {
    let mut source = vec![0.0; d.n];
    for half_waves in 1..=6 {
        let (height, phase) = (d.normal() / half_waves as f64, d.between(0.0, TAU));
        for (t, slot) in source.iter_mut().enumerate() {
            *slot += height * (PI * half_waves as f64 * t as f64 / d.n as f64 + phase).sin();
        }
    }
    (d.with_background(source, 0.12), None)
}

fn rhythm(d: &mut Draw) -> (Vec<f64>, Option<Cap>) {
    let f = d.between(4.0, 30.0);
    // Narrow enough that a cycle says when the next one comes.
    let width = d.between(0.04, 0.12) * f;
    let radius = (-PI * width / d.rate).exp();
    let amplitude = d.amplitude(1.0, 0.3);
    let noise = d.resonance(f, radius);
    let source = noise.iter().zip(&amplitude).map(|(v, a)| v * a).collect();
    let cap = Cap::of(d, |[x, y]| bump(x, y + 0.6, 0.5));
    (d.with_background(source, 0.25), Some(cap))
}

fn lorenz(d: &mut Draw) -> (Vec<f64>, Option<Cap>) {
    let step = d.between(1.0, 6.0) / d.rate;
    let third = d.below(2) == 0;
    let mut p = [1.0 + d.normal(), 1.0 + d.normal(), 20.0];
    let slope = |[x, y, z]: [f64; 3]| [10.0 * (y - x), x * (28.0 - z) - y, x * y - 8.0 / 3.0 * z];
    let mut next = || {
        // Euler steps of at most 0.002: the attractor, not the trajectory, is what matters here.
        let parts = (step / 0.002).ceil().max(1.0);
        for _ in 0..parts as usize {
            let s = slope(p);
            (0..3).for_each(|i| p[i] += step / parts * s[i]);
        }
        if third { p[2] } else { p[0] }
    };
    (0..2000).for_each(|_| _ = next());
    let source = (0..d.n).map(|_| next()).collect();
    (source, None)
}

fn logistic(d: &mut Draw) -> (Vec<f64>, Option<Cap>) {
    let mut x = d.between(0.1, 0.9);
    let source = (0..d.n).map(|_| {
        x = 3.99 * x * (1.0 - x);
        x
    });
    (source.collect(), None)
}

fn henon(d: &mut Draw) -> (Vec<f64>, Option<Cap>) {
    let (mut x, mut y) = (d.between(-0.1, 0.1), d.between(-0.1, 0.1));
    let source = (0..d.n).map(|_| {
        (x, y) = (1.0 - 1.4 * x * x + y, 0.3 * x);
        x
    });
    (source.collect(), None)
}

/// Pulses of any length at random times, of both signs.
fn random_pulses(d: &mut Draw) -> (Vec<f64>, Option<Cap>) {
    let width = d.between(0.02, 1.0) * d.rate;
    let every = 4.0 * width;
    let mut source = vec![0.0; d.n];
    let mut time = 0.0;
    while time < d.n as f64 {
        let height = d.normal();
        for (t, slot) in source
            .iter_mut()
            .enumerate()
            .skip(time as usize)
            .take(3 * width as usize)
        {
            *slot += height * (-(t as f64 - time) / width).exp();
        }
        time += every * d.waiting();
    }
    (source, None)
}

/// Noise through two resonances, in syllables of different strength: speech without a pitch.
fn syllables(d: &mut Draw) -> (Vec<f64>, Option<Cap>) {
    (d.rate, d.n) = (8000.0, (8000.0 * d.seconds().min(20.0)) as usize);
    let mut source = vec![0.0; d.n];
    let (low, high) = (d.between(300.0, 800.0), d.between(1000.0, 2500.0));
    add(&mut source, &standardized(&d.resonance(low, 0.97)), 1.0);
    add(&mut source, &standardized(&d.resonance(high, 0.95)), 0.6);
    let strength = d.amplitude(0.15, 1.0);
    (
        source.iter().zip(&strength).map(|(v, a)| v * a).collect(),
        None,
    )
}

/// Two levels, changed at random times.
fn telegraph(d: &mut Draw) -> (Vec<f64>, Option<Cap>) {
    let every = d.between(0.2, 0.8) * d.rate;
    let (mut level, mut until) = (1.0, 0.0);
    let source = (0..d.n).map(|t| {
        if t as f64 >= until {
            level = -level;
            until += every * d.waiting();
        }
        level
    });
    (source.collect(), None)
}
