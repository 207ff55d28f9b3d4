use super::*;
use std::f64::consts::TAU;

const NAN: f64 = f64::NAN;

fn recording(columns: &[Vec<f64>], rate: f64) -> Recording {
    let values = Mat::from_fn(columns[0].len(), columns.len(), |t, c| columns[c][t]);
    let recording = Recording::from_mat(values).unwrap();
    recording.with_sampling_rate(rate).unwrap()
}

fn sine(n: usize, hz: f64, rate: f64) -> Vec<f64> {
    (0..n).map(|t| (TAU * hz * t as f64 / rate).sin()).collect()
}

fn column(prepared: &Prepared, channel: usize) -> Vec<f64> {
    let values = prepared.recording.observations();
    values.col(channel).iter().copied().collect()
}

fn band(text: &str) -> Preparation {
    Preparation {
        band: Some(text.parse().unwrap()),
        ..Preparation::default()
    }
}

fn refused(preparation: &Preparation, recording: &Recording, parts: &[&str]) {
    let message = preparation.apply(recording).unwrap_err().to_string();
    for part in parts {
        assert!(message.contains(part), "\"{message}\" lacks \"{part}\"");
    }
}

fn largest_difference(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    let pairs = a.iter().zip(b).map(|(a, b)| (a - b).abs());
    pairs.fold(0.0, f64::max)
}

/// Gain by gain: what passes, where it is halved, and what is stopped.
#[test]
fn filters_have_the_response_of_their_design() {
    for (text, rate) in [
        ("1-40", 250.0),
        ("0.5-30", 128.0),
        ("8-", 500.0),
        ("-20", 1000.0),
    ] {
        let band: Band = text.parse().unwrap();
        band.check(rate).unwrap();
        let filter = band.design(rate).build();
        let width = |hz: f64, room: f64| (0.25 * hz).max(2.0).min(room);
        let (low, high) = (band.low.unwrap_or(0.0), band.high.unwrap_or(rate / 2.0));
        let (below, above) = (width(low, low), width(high, rate / 2.0 - high));
        for i in 0..=2000 {
            let hz = rate / 2.0 * f64::from(i) / 2000.0;
            let gain = filter.gain(hz, rate);
            if (low..=high).contains(&hz) {
                assert!((gain - 1.0).abs() < 0.005, "{text}: {gain} at {hz} Hz");
            } else if hz < low - below || hz > high + above {
                assert!(gain.abs() < 0.0035, "{text}: {gain} at {hz} Hz"); // −49 dB
            }
        }
        for middle in [
            band.low.map(|l| l - below / 2.0),
            band.high.map(|h| h + above / 2.0),
        ] {
            let gain = middle.map_or(0.5, |middle| filter.gain(middle, rate));
            assert!((gain - 0.5).abs() < 0.01, "{text}: {gain}");
        }
        assert_eq!(filter.taps().len(), 2 * band.design(rate).half_length() + 1);
    }
    assert_eq!(
        "1-40"
            .parse::<Band>()
            .unwrap()
            .design(250.0)
            .build()
            .taps()
            .len(),
        825
    );
}

#[test]
fn a_notch_takes_out_a_line_and_its_multiples_only() {
    let all = notch::frequencies(&[50.0], 500.0);
    assert_eq!(all, [50.0, 100.0, 150.0, 200.0]);
    assert_eq!(
        notch::frequencies(&[50.0, 100.0, 60.0], 260.0),
        [50.0, 60.0, 100.0, 120.0]
    );
    let filter = notch::design(&all, 500.0).build();
    assert_eq!(filter.taps().len(), 3301); // 6.6 s
    for hz in &all {
        assert!(filter.gain(*hz, 500.0).abs() < 0.01);
        for beside in [hz - 2.0, hz + 2.0, hz - 10.0] {
            let gain = filter.gain(beside, 500.0);
            assert!((gain - 1.0).abs() < 0.01, "{gain} at {beside} Hz");
        }
    }
}

/// Blocks of transforms against the sum that they stand for, whatever the lengths.
#[test]
fn convolution_by_blocks_is_the_sum_of_products() {
    let filter = "5-20".parse::<Band>().unwrap().design(100.0).build();
    let half = filter.half_length();
    for n in [half + 1, 2 * half, 1000, 5003] {
        let signal: Vec<f64> = (0..n)
            .map(|t| ((t * t) as f64 * 0.37).sin() + 0.01 * t as f64)
            .collect();
        let at = |t: isize| {
            let last = n as isize - 1;
            match t {
                t if t < 0 => 2.0 * signal[0] - signal[(-t) as usize],
                t if t > last => 2.0 * signal[n - 1] - signal[(2 * last - t) as usize],
                t => signal[t as usize],
            }
        };
        let expected: Vec<f64> = (0..n as isize)
            .map(|t| {
                let taps = filter.taps().iter().enumerate();
                taps.map(|(j, tap)| tap * at(t + j as isize - half as isize))
                    .sum()
            })
            .collect();
        let mut found = signal.clone();
        filter.apply(&mut found);
        let off = largest_difference(&found, &expected);
        assert!(off < 1e-12, "{n} samples: {off}");
    }
}

#[test]
fn an_impulse_stays_where_it_is() {
    let mut impulse = vec![0.0; 4001];
    impulse[2000] = 1.0;
    let recording = recording(&[impulse], 250.0);
    let prepared = Preparation {
        notch: vec![50.0],
        ..band("1-40")
    }
    .apply(&recording)
    .unwrap();
    let found = column(&prepared, 0);
    let peak = (0..4001).max_by(|&a, &b| found[a].total_cmp(&found[b]));
    assert_eq!(peak, Some(2000));
    let mirrored: Vec<f64> = found.iter().rev().copied().collect();
    assert!(largest_difference(&found, &mirrored) < 1e-14);
}

#[test]
fn constants_and_lines_go_through_the_ends() {
    let line: Vec<f64> = (0..3000).map(|t| 7.0 - 0.01 * f64::from(t)).collect();
    let flat = vec![12.5; 3000];
    let recording = recording(&[line.clone(), flat.clone()], 250.0);
    let low = band("-40").apply(&recording).unwrap();
    assert!(largest_difference(&column(&low, 0), &line) < 1e-10);
    assert!(largest_difference(&column(&low, 1), &flat) < 1e-10);
    let high = band("1-").apply(&recording).unwrap();
    assert!(column(&high, 0).iter().all(|value| value.abs() < 1e-10));
    let flatter = Preparation {
        detrend: true,
        ..Preparation::default()
    };
    let flatter = flatter.apply(&recording).unwrap();
    assert!(
        column(&flatter, 0)
            .iter()
            .chain(&column(&flatter, 1))
            .all(|v| v.abs() < 1e-10)
    );
    let resampled = Preparation {
        resample: Some(200.0),
        ..Preparation::default()
    };
    let resampled = resampled.apply(&recording).unwrap();
    let expected: Vec<f64> = (0..2400)
        .map(|k| 7.0 - 0.01 * 1.25 * f64::from(k))
        .collect();
    assert!(largest_difference(&column(&resampled, 0), &expected) < 1e-3);
    assert!(
        column(&resampled, 1)
            .iter()
            .all(|value| (value - 12.5).abs() < 1e-12)
    );
}

#[test]
fn stretches_are_filtered_by_themselves_and_short_ones_are_lost() {
    let mut values = sine(4000, 10.0, 250.0);
    let whole = values.clone();
    values[1500] = NAN;
    values[1700..1710].fill(NAN);
    let gaps = recording(&[values, whole.clone()], 250.0);
    let prepared = band("1-40").apply(&gaps).unwrap();
    // Between the two gaps are 199 samples, half the filter has 412.
    assert_eq!(prepared.n_too_short, 199);
    for channel in 0..2 {
        let found = column(&prepared, channel);
        assert!(found[1500..1710].iter().all(|value| value.is_nan()));
        assert!(
            found[..1500]
                .iter()
                .chain(&found[1710..])
                .all(|value| value.is_finite())
        );
        let alone = recording(&[whole[..1500].to_vec()], 250.0);
        let alone = band("1-40").apply(&alone).unwrap();
        assert_eq!(
            found[..1500],
            column(&alone, 0)[..],
            "bits of the first stretch"
        );
    }
    let short = recording(&[whole[..400].to_vec()], 250.0);
    refused(
        &band("1-40"),
        &short,
        &[
            "band: expected a stretch of at least 413 samples (1.65 s)",
            "at most 400",
            "longer",
        ],
    );
}

/// Sines at other rates are the same sines, to the ripple of the filter, away from the ends.
#[test]
fn resampled_sines_have_their_exact_values() {
    for (from, to, hz) in [
        (256.0, 250.0, 20.0),
        (250.0, 256.0, 90.0),
        (44100.0, 8000.0, 3000.0),
        (100.0, 1000.0, 40.0),
        (128.0, 100.5, 7.0),
    ] {
        let n = 6000;
        let found = resample(
            recording(&[sine(n, hz, from)], from).observations(),
            from,
            to,
        )
        .unwrap();
        let expected = sine(found.nrows(), hz, to);
        assert_eq!(
            found.nrows(),
            (n as f64 * to / from).ceil() as usize,
            "{from} to {to}"
        );
        let margin = found.nrows() / 4;
        let off = (margin..found.nrows() - margin)
            .map(|k| (found[(k, 0)] - expected[k]).abs())
            .fold(0.0, f64::max);
        assert!(off < 3e-4, "{hz} Hz from {from} to {to}: {off}");
    }
    // What a lower rate does not have is stopped: 4.5 kHz would come back as 3.5 kHz.
    let high = recording(&[sine(20000, 4500.0, 44100.0)], 44100.0);
    let found = resample(high.observations(), 44100.0, 8000.0).unwrap();
    let inside = 500..found.nrows() - 500;
    assert!(inside.clone().all(|k| found[(k, 0)].abs() < 3e-4));
}

#[test]
fn gaps_stay_gaps_at_another_rate() {
    let mut values = sine(2560, 5.0, 256.0);
    values[1000..1128].fill(NAN);
    values[1140] = NAN;
    let recording = recording(&[values], 256.0);
    let preparation = Preparation {
        resample: Some(250.0),
        ..Preparation::default()
    };
    let prepared = preparation.apply(&recording).unwrap();
    assert_eq!(prepared.steps, ["resampled from 256 to 250 Hz"]);
    assert_eq!(prepared.recording.sampling_rate(), Some(250.0));
    assert_eq!(prepared.n_too_short, 12);
    let found = column(&prepared, 0);
    assert_eq!(found.len(), 2500);
    let first = found.iter().position(|value| value.is_nan());
    let last = found.iter().rposition(|value| value.is_nan());
    assert_eq!((first, last), (Some(977), Some(1114))); // 1000 and 1140 in steps of 1.024
    let exact = sine(2500, 5.0, 250.0);
    assert!((100..900).all(|k| (found[k] - exact[k]).abs() < 3e-4));
}

#[test]
fn references_are_differences() {
    let columns = [
        vec![1.0, 2.0, 3.0],
        vec![4.0, NAN, 6.0],
        vec![10.0, 11.0, 12.0],
    ];
    let recording = recording(&columns, 1.0)
        .with_channel_names(["a", "b", "c"].map(String::from).into())
        .unwrap();
    let against = |reference| Preparation {
        reference: Some(reference),
        ..Preparation::default()
    };
    let average = against(Reference::Average).apply(&recording).unwrap();
    assert_eq!(column(&average, 0)[0], -4.0);
    assert!(column(&average, 0)[1].is_nan());
    assert_eq!(average.steps, ["average reference"]);
    let one = against(Reference::Channel(1)).apply(&recording).unwrap();
    assert_eq!(one.recording.channel_names(), ["a", "c"]);
    assert_eq!((column(&one, 0)[2], column(&one, 1)[2]), (-3.0, 6.0));
    refused(
        &against(Reference::Channel(3)),
        &recording,
        &["rereference", "3 channels", "channel 4"],
    );
}

#[test]
fn bad_segments_become_missing_in_all_channels() {
    let recording = recording(&[vec![1.0; 100], vec![2.0; 100]], 10.0);
    let with = |segments: &[(f64, f64)]| Preparation {
        bad_segments: segments.iter().copied().map(Segment::from).collect(),
        ..Preparation::default()
    };
    let prepared = with(&[(0.3, 0.2), (-1.0, 1.1), (9.9, 50.0)])
        .apply(&recording)
        .unwrap();
    let missing: Vec<usize> = (0..100)
        .filter(|&t| prepared.recording.is_missing(t))
        .collect();
    assert_eq!(missing, [0, 3, 4, 99]);
    assert_eq!(prepared.steps, ["3 bad segments taken as missing (0.4 s)"]);
    refused(
        &with(&[(0.0, 10.0)]),
        &recording,
        &["bad_segments", "cover all"],
    );
    refused(
        &with(&[(0.0, -1.0)]),
        &recording,
        &["bad_segments", "duration"],
    );
}

#[test]
fn what_cannot_be_is_refused_by_name() {
    let known = recording(&[sine(3000, 5.0, 100.0)], 100.0);
    let unknown = Recording::from_rows(&sine(3000, 5.0, 100.0), 1).unwrap();
    refused(
        &band("1-40"),
        &unknown,
        &["band", "a sampling rate", "give the rate"],
    );
    refused(&band("1-50"), &known, &["band", "below 50 Hz", "1-50"]);
    refused(&band("60-"), &known, &["band", "below 50 Hz"]);
    refused(
        &Preparation {
            notch: vec![50.0],
            ..Preparation::default()
        },
        &known,
        &["notch", "below 50 Hz", "found 50"],
    );
    for to in [0.0, -5.0, NAN, f64::INFINITY, std::f64::consts::PI] {
        let preparation = Preparation {
            resample: Some(to),
            ..Preparation::default()
        };
        refused(&preparation, &known, &["resample: expected", "found"]);
    }
    for text in ["", "40", "40-1", "0-40", "a-b", "-", "1-40-50", "nan-3"] {
        let message = text.parse::<Band>().unwrap_err().to_string();
        assert!(message.starts_with("band: expected"), "{message}");
    }
    for text in ["1-40", "0.5-", "-40", "0.001-3"] {
        assert_eq!(text.parse::<Band>().unwrap().to_string(), text);
    }
    assert_eq!("1e-3-40".parse::<Band>().unwrap().low, Some(0.001));
}

#[test]
fn nothing_asked_changes_nothing() {
    let values = vec![sine(50, 3.0, 20.0), sine(50, 1.0, 20.0)];
    let recording = recording(&values, 20.0);
    let prepared = Preparation::default().apply(&recording).unwrap();
    assert_eq!(prepared.recording.fingerprint(), recording.fingerprint());
    assert!(prepared.steps.is_empty());
}

/// What passes 50 Hz, stands beside it, has it in a band, or is weaker than a hundredth is no line.
#[test]
fn what_only_looks_like_a_line_is_none() {
    let n = 60 * 250;
    let mut state = 7u32;
    let mut noise = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        f64::from(state >> 8) / f64::from(1 << 24) - 0.5
    };
    let white: Vec<f64> = (0..n).map(|_| noise()).collect();
    let with = |wave: &dyn Fn(f64) -> f64| -> Vec<f64> {
        let seconds = (0..n).map(|t| t as f64 / 250.0);
        seconds
            .zip(&white)
            .map(|(s, noise)| wave(s) + noise)
            .collect()
    };
    let mut rhythm = white.clone();
    let gamma = "48-52".parse::<Band>().unwrap().design(250.0).build();
    gamma.apply(&mut rhythm);
    let recording = recording(
        &[
            with(&|s| (TAU * (20.0 + 0.5 * s) * s).sin()),
            with(&|s| 0.5 * (TAU * 48.0 * s).sin()),
            rhythm
                .iter()
                .zip(&white)
                .map(|(band, noise)| 3.0 * band + noise)
                .collect(),
            with(&|s| 0.03 * (TAU * 50.0 * s).sin()),
            with(&|s| (s * 1.2) % 1.0),
        ],
        250.0,
    );
    assert_eq!(
        warn::disturbances(&recording),
        warn::Disturbances::default()
    );
}

/// Noise alone has neither; a line of a tenth of the noise's variance and drift above it do, each
/// in the channels that have it.
#[test]
fn drift_and_lines_are_seen_where_they_are() {
    let n = 60 * 250;
    let noise = |seed: u32| {
        let mut state = seed;
        (0..n).map(move |_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            f64::from(state >> 8) / f64::from(1 << 24) - 0.5
        })
    };
    let quiet = recording(&[noise(1).collect(), noise(2).collect()], 250.0);
    assert_eq!(warn::disturbances(&quiet), warn::Disturbances::default());
    let hum = sine(n, 50.0, 250.0);
    let slow = sine(n, 0.05, 250.0);
    let disturbed = recording(
        &[
            noise(1)
                .zip(&hum)
                .map(|(noise, hum)| noise + 0.13 * hum)
                .collect(),
            noise(2).collect(),
            noise(3)
                .zip(&slow)
                .map(|(noise, slow)| noise + slow)
                .collect(),
        ],
        250.0,
    );
    let found = warn::disturbances(&disturbed);
    assert_eq!(found.lines.len(), 1);
    assert_eq!(
        (found.lines[0].0, &found.lines[0].1.channels[..]),
        (50.0, &[0][..])
    );
    assert!((0.05..0.15).contains(&found.lines[0].1.share), "{found:?}");
    let drift = found.drift.unwrap();
    assert_eq!(drift.channels, [2]);
    assert!(drift.share > 0.8);
    // What was prepared for is gone.
    let prepared = Preparation {
        notch: vec![50.0],
        ..band("1-")
    }
    .apply(&disturbed)
    .unwrap();
    assert_eq!(
        warn::disturbances(&prepared.recording),
        warn::Disturbances::default()
    );
}

/// Sums over values near the largest f64 are beyond it; denormal ones have few digits to lose.
#[test]
fn huge_and_denormal_values_are_prepared_as_others_are() {
    assert_eq!(SCALE, 2f64.powi(200));
    let (n, rate) = (3000, 100.0);
    let plain = recording(&[sine(n, 5.0, rate), sine(n, 30.0, rate)], rate);
    let all = [
        band("1-20"),
        Preparation {
            notch: vec![30.0],
            ..Preparation::default()
        },
        Preparation {
            resample: Some(50.0),
            ..Preparation::default()
        },
        Preparation {
            detrend: true,
            ..Preparation::default()
        },
        Preparation {
            reference: Some(Reference::Average),
            ..Preparation::default()
        },
    ];
    for preparation in all {
        let expected = preparation.apply(&plain).unwrap();
        for (factor, tolerance) in [(1e-310, 1e-6), (1e300, 1e-9), (1e308, 1e-9)] {
            let columns = [sine(n, 5.0, rate), sine(n, 30.0, rate)]
                .map(|sine| sine.iter().map(|value| value * factor).collect());
            let prepared = preparation.apply(&recording(&columns, rate)).unwrap();
            assert_eq!(prepared.steps, expected.steps);
            for channel in 0..2 {
                let scaled: Vec<f64> = column(&prepared, channel)
                    .iter()
                    .map(|value| value / factor)
                    .collect();
                let differs = largest_difference(&scaled, &column(&expected, channel));
                assert!(differs < tolerance, "{preparation:?} × {factor}: {differs}");
            }
        }
    }
    let opposite = [vec![1.7e308; n], vec![-1.7e308; n]];
    let against_second = Preparation {
        reference: Some(Reference::Channel(1)),
        ..Preparation::default()
    };
    refused(
        &against_second,
        &recording(&opposite, rate),
        &[
            "expected values below 1.79",
            "larger ones in channel ch1",
            "divide the recording",
        ],
    );
}
