use super::{Decoder, StreamInfo, encode};
use std::io::ErrorKind;

/// A signal that fills `width` bits: smooth, rough, still, at both limits, by turns.
fn sample(width: u32, t: usize, channel: usize) -> i64 {
    let limit = (1i64 << (width - 1)) - 1;
    let noise = (t as u64 * 3 + channel as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
    match t / 700 % 5 {
        0 => ((t as f64 * 0.01 + channel as f64).sin() * limit as f64) as i64,
        1 => noise as i64 % (limit + 1),
        2 => 3.min(limit),
        3 => [limit, -limit - 1][(t + channel) % 2],
        _ => (t % 7) as i64 - 3,
    }
}

fn stream(info: StreamInfo) -> Vec<u8> {
    let mut bytes = Vec::new();
    let comments = ["WIDTH=odd".to_string()];
    encode(&mut bytes, &info, &comments, |t, c| {
        sample(info.width, t, c)
    })
    .unwrap();
    bytes
}

fn info(width: u32, n_channels: usize, n_samples: u64) -> StreamInfo {
    StreamInfo {
        rate: 44_100,
        n_channels,
        width,
        n_samples: Some(n_samples),
    }
}

#[test]
fn every_width_and_length_comes_back() {
    for (width, n_channels, n_samples) in [
        (4, 1, 5000),
        (8, 3, 4096),
        (13, 2, 1),
        (16, 2, 9000),
        (17, 8, 40),
        (24, 1, 700_000),
        (32, 2, 12_289),
    ] {
        let info = info(width, n_channels, n_samples);
        let bytes = stream(info);
        let mut decoder = Decoder::new(&bytes[..]).unwrap();
        assert_eq!(decoder.info(), info);
        let mut t = 0;
        while let Some(block) = decoder.next_block().unwrap() {
            for (channel, samples) in block.iter().enumerate() {
                for (i, &found) in samples.iter().enumerate() {
                    assert_eq!(found, sample(width, t + i, channel), "{width} {t} {i}");
                }
            }
            t += block[0].len();
        }
        assert_eq!(t as u64, n_samples);
    }
}

#[test]
fn smooth_signals_become_smaller() {
    let info = info(16, 1, 65_536);
    let mut bytes = Vec::new();
    let smooth = |t: usize, _| ((t as f64 * 0.02).sin() * 2e4) as i64;
    encode(&mut bytes, &info, &[], smooth).unwrap();
    assert!(bytes.len() < 65_536, "{} bytes of 131072", bytes.len());
}

#[test]
fn any_flipped_bit_and_any_cut_is_noticed() {
    let bytes = stream(info(16, 2, 300));
    // The numbers of the description are not under a checksum: only what follows it is.
    let from = bytes.windows(9).position(|w| w == b"WIDTH=odd").unwrap() + 9;
    for at in from..bytes.len() {
        let mut damaged = bytes.clone();
        damaged[at] ^= 1 << (at % 8);
        assert!(Decoder::new(&damaged[..]).unwrap().count().is_err(), "{at}");
    }
    for end in from + 1..bytes.len() {
        let error = Decoder::new(&bytes[..end]).unwrap().count().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::UnexpectedEof, "{end}");
    }
}
