//! Samples → a FLAC stream: blocks of one length, fixed predictors, Rice codes.
//!
//! For each block and channel the predictor of order 0 to 4 with the smallest residuals is taken,
//! or the samples themselves where that is shorter. Channels are written apart. The checksum of all
//! samples is left open, as the format allows.

use super::MAGIC;
use super::bits::BitWriter;
use super::checksum::Checksums;
use super::decode::StreamInfo;
use super::subframe::FIXED;
use std::io::{self, Write};

/// Samples of a block.
const BLOCK: usize = 4096;
/// Partitions of a block: 2 to this power.
const PARTITION_ORDER: u32 = 4;
/// Rice parameters have 5 bits; the last one is an escape.
const LARGEST_PARAMETER: u32 = 30;

/// Writes a stream of `info.n_samples` samples; `sample(t, channel)` must fit into `info.width`
/// bits. `comments` are `NAME=value`.
pub(crate) fn encode(
    out: &mut dyn Write,
    info: &StreamInfo,
    comments: &[String],
    sample: impl Fn(usize, usize) -> i64,
) -> io::Result<()> {
    let n_samples = info.n_samples.unwrap_or(0);
    out.write_all(MAGIC)?;
    out.write_all(&[0, 0, 0, 34])?;
    let mut bits = BitWriter::default();
    bits.put(BLOCK as u64, 16);
    bits.put(BLOCK as u64, 16);
    // Sizes of frames and the checksum of all samples are left open.
    bits.put(0, 32);
    bits.put(0, 16);
    bits.put(u64::from(info.rate), 20);
    bits.put(info.n_channels as u64 - 1, 3);
    bits.put(u64::from(info.width) - 1, 5);
    bits.put(n_samples >> 32, 4);
    bits.put(n_samples, 32);
    bits.bytes.resize(34, 0);
    out.write_all(&bits.bytes)?;
    write_comments(out, comments)?;

    let mut block = Vec::with_capacity(BLOCK);
    let n_samples = n_samples as usize;
    for (number, first) in (0..n_samples).step_by(BLOCK).enumerate() {
        let length = BLOCK.min(n_samples - first);
        let mut bits = frame_header(number as u64, length, info);
        for channel in 0..info.n_channels {
            block.clear();
            block.extend((first..first + length).map(|t| sample(t, channel)));
            subframe(&mut bits, info.width, &block);
        }
        bits.align();
        let sum = Checksums::of(&bits.bytes).of_frame;
        bits.put(u64::from(sum), 16);
        out.write_all(&bits.bytes)?;
    }
    Ok(())
}

/// The last block of the beginning: who wrote the stream, and comments.
fn write_comments(out: &mut dyn Write, comments: &[String]) -> io::Result<()> {
    let text = |text: &str| [&(text.len() as u32).to_le_bytes(), text.as_bytes()].concat();
    let mut bytes = text("StrTransformer");
    bytes.extend((comments.len() as u32).to_le_bytes());
    bytes.extend(comments.iter().flat_map(|comment| text(comment)));
    let size = (bytes.len() as u32).to_be_bytes();
    out.write_all(&[0x84, size[1], size[2], size[3]])?;
    out.write_all(&bytes)
}

fn frame_header(number: u64, length: usize, info: &StreamInfo) -> BitWriter {
    let mut bits = BitWriter::default();
    bits.put(0b1111_1111_1111_1000, 16);
    let is_whole = length == BLOCK;
    bits.put(if is_whole { 12 } else { 7 }, 4);
    bits.put(0, 4);
    bits.put(info.n_channels as u64 - 1, 4);
    let width_code = match info.width {
        8 => 1,
        12 => 2,
        16 => 4,
        20 => 5,
        24 => 6,
        32 => 7,
        _ => 0,
    };
    bits.put(width_code, 3);
    bits.put(0, 1);
    put_number(&mut bits, number);
    if !is_whole {
        bits.put(length as u64 - 1, 16);
    }
    let sum = Checksums::of(&bits.bytes).of_header;
    bits.put(u64::from(sum), 8);
    bits
}

/// A number as UTF-8 would write it, up to 36 bits.
fn put_number(bits: &mut BitWriter, number: u64) {
    if number < 0x80 {
        bits.put(number, 8);
        return;
    }
    // With n bytes after the first one there are 6·n bits in these and 6 − n in the first.
    let n_more = (1..=6)
        .find(|n| number >> (6 * n + 6 - n) == 0)
        .unwrap_or(6u32);
    let lead = 0xff << (7 - n_more) & 0xff;
    bits.put(lead | number >> (6 * n_more), 8);
    for byte in (0..n_more).rev() {
        bits.put(0x80 | number >> (6 * byte) & 0x3f, 8);
    }
}

fn subframe(bits: &mut BitWriter, width: u32, samples: &[i64]) {
    let put_sample = |bits: &mut BitWriter, sample: i64| bits.put(sample as u64, width);
    if samples.iter().all(|sample| *sample == samples[0]) {
        bits.put(0, 8);
        put_sample(bits, samples[0]);
        return;
    }
    let (order, residuals) = best_residuals(samples);
    let partition_order = match samples.len() {
        BLOCK => PARTITION_ORDER,
        _ => 0,
    };
    let parameters = parameters(&residuals, order, samples.len() >> partition_order);
    // The format asks for residuals of 32 bits.
    let fits = residuals.iter().all(|&r| i32::try_from(r).is_ok());
    let cost: u64 = parameters.iter().map(|(_, cost)| cost).sum();
    if !fits || cost >= samples.len() as u64 * u64::from(width) {
        bits.put(1 << 1, 8);
        samples.iter().for_each(|&sample| put_sample(bits, sample));
        return;
    }
    bits.put((8 + order as u64) << 1, 8);
    samples[..order]
        .iter()
        .for_each(|&sample| put_sample(bits, sample));
    bits.put(1, 2);
    bits.put(u64::from(partition_order), 4);
    let mut rest = &residuals[..];
    let mut length = (samples.len() >> partition_order) - order;
    for (parameter, _) in parameters {
        bits.put(u64::from(parameter), 5);
        let (partition, others) = rest.split_at(length);
        for &residual in partition {
            let code = zigzag(residual);
            bits.put_unary(code >> parameter);
            bits.put(code, parameter);
        }
        (rest, length) = (others, samples.len() >> partition_order);
    }
}

/// The order of the fixed predictor that leaves least, and what it leaves.
fn best_residuals(samples: &[i64]) -> (usize, Vec<i64>) {
    let residuals = |order: usize| -> Vec<i64> {
        let residual = |t: usize| {
            let weights = FIXED[order].iter().enumerate();
            samples[t]
                - weights
                    .map(|(lag, w)| w * samples[t - 1 - lag])
                    .sum::<i64>()
        };
        (order..samples.len()).map(residual).collect()
    };
    let size = |residuals: &[i64]| residuals.iter().map(|r| r.unsigned_abs()).sum::<u64>();
    (0..FIXED.len())
        .filter(|&order| order < samples.len() >> PARTITION_ORDER || order == 0)
        .map(|order| (order, residuals(order)))
        .min_by_key(|(_, residuals)| size(residuals))
        .unwrap_or_default()
}

/// The Rice parameter of every partition, with the bits that it takes.
fn parameters(residuals: &[i64], order: usize, length: usize) -> Vec<(u32, u64)> {
    let mut found = Vec::new();
    let mut rest = residuals;
    let mut count = length - order;
    loop {
        let (partition, others) = rest.split_at(count);
        let sum: u64 = partition.iter().map(|&residual| zigzag(residual)).sum();
        let mean = sum / (count as u64).max(1);
        let parameter = mean.max(1).ilog2().min(LARGEST_PARAMETER);
        let quotients: u64 = partition.iter().map(|&r| zigzag(r) >> parameter).sum();
        found.push((
            parameter,
            5 + quotients + count as u64 * u64::from(1 + parameter),
        ));
        if others.is_empty() {
            return found;
        }
        (rest, count) = (others, length);
    }
}

/// 0, −1, 1, −2, … → 0, 1, 2, 3, …
fn zigzag(residual: i64) -> u64 {
    (residual << 1 ^ residual >> 63) as u64
}
