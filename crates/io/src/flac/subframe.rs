//! One channel of a FLAC frame: a constant, the samples themselves, or what a linear predictor
//! leaves of them (RFC 9639, section 9.2).

use super::bits::Bits;
use super::decode::damaged;
use std::io::{self, BufRead};

/// Predictors of order 0 to 4 (section 9.2.5).
pub(super) const FIXED: [&[i64]; 5] = [&[], &[1], &[2, -1], &[3, -3, 1], &[4, -6, 4, -1]];

/// Decodes `samples.len()` samples of `width` bits.
pub(super) fn decode<R: BufRead>(
    bits: &mut Bits<R>,
    width: u32,
    samples: &mut [i64],
) -> io::Result<()> {
    if bits.take(1)? != 0 {
        return Err(damaged("a subframe that does not begin with 0"));
    }
    let kind = bits.take(6)? as usize;
    let n_wasted = match bits.take(1)? {
        0 => 0,
        _ => bits.unary()? + 1,
    };
    if n_wasted >= u64::from(width) {
        return Err(damaged("more unused bits than a sample has"));
    }
    let n_wasted = n_wasted as u32;
    let width = width - n_wasted;
    match kind {
        0 => samples.fill(bits.take_signed(width)?),
        1 => {
            for sample in samples.iter_mut() {
                *sample = bits.take_signed(width)?;
            }
        }
        8..=12 => {
            let order = kind - 8;
            start(bits, width, order, samples)?;
            predicted(bits, FIXED[order], 0, samples)?;
        }
        32..=63 => {
            let order = kind - 31;
            start(bits, width, order, samples)?;
            let precision = bits.take(4)? as u32 + 1;
            let shift = bits.take_signed(5)?;
            if precision == 16 || shift < 0 {
                return Err(damaged("a predictor that the format does not know"));
            }
            let mut weights = [0; 32];
            for weight in &mut weights[..order] {
                *weight = bits.take_signed(precision)?;
            }
            predicted(bits, &weights[..order], shift as u32, samples)?;
        }
        _ => return Err(damaged("a kind of subframe that the format does not know")),
    }
    let limit = 1i64 << (width - 1);
    for sample in samples.iter_mut() {
        if !(-limit..limit).contains(sample) {
            return Err(damaged("a sample beyond the width of the stream"));
        }
        *sample <<= n_wasted;
    }
    Ok(())
}

/// The samples before those that are predicted.
fn start<R: BufRead>(
    bits: &mut Bits<R>,
    width: u32,
    order: usize,
    samples: &mut [i64],
) -> io::Result<()> {
    let first = samples
        .get_mut(..order)
        .ok_or_else(|| damaged("a block that is shorter than its predictor"))?;
    for sample in first {
        *sample = bits.take_signed(width)?;
    }
    Ok(())
}

/// Residuals, each added to what the samples before it predict. Damaged ones may lead anywhere:
/// arithmetic wraps, and the caller compares the samples with their width.
fn predicted<R: BufRead>(
    bits: &mut Bits<R>,
    weights: &[i64],
    shift: u32,
    samples: &mut [i64],
) -> io::Result<()> {
    let order = weights.len();
    residuals(bits, order, samples)?;
    for t in order..samples.len() {
        let sum = weights.iter().enumerate().fold(0i64, |sum, (lag, weight)| {
            sum.wrapping_add(weight.wrapping_mul(samples[t - 1 - lag]))
        });
        samples[t] = samples[t].wrapping_add(sum >> shift);
    }
    Ok(())
}

/// Rice codes in partitions (section 9.2.7), into the samples from `order` on.
fn residuals<R: BufRead>(bits: &mut Bits<R>, order: usize, samples: &mut [i64]) -> io::Result<()> {
    let parameter_width = match bits.take(2)? {
        0 => 4,
        1 => 5,
        _ => {
            return Err(damaged(
                "a coding of residuals that the format does not know",
            ));
        }
    };
    let escape = (1 << parameter_width) - 1;
    let partition_order = bits.take(4)? as u32;
    let length = samples.len() >> partition_order;
    if length << partition_order != samples.len() || length < order {
        return Err(damaged("partitions that do not fill their block"));
    }
    let mut from = order;
    for partition in 0..1usize << partition_order {
        let to = (partition + 1) * length;
        let parameter = bits.take(parameter_width)?;
        if parameter == escape {
            let width = bits.take(5)? as u32;
            for sample in &mut samples[from..to] {
                *sample = bits.take_signed(width)?;
            }
        } else {
            for sample in &mut samples[from..to] {
                let quotient = bits.unary()?;
                if quotient >> 33 != 0 {
                    return Err(damaged("a residual beyond all bounds"));
                }
                let code = quotient << parameter | bits.take(parameter as u32)?;
                *sample = (code >> 1) as i64 ^ -((code & 1) as i64);
            }
        }
        from = to;
    }
    Ok(())
}
