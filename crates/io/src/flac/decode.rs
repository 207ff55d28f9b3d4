//! A FLAC stream → blocks of samples (RFC 9639, sections 8 and 9).

use super::bits::Bits;
use super::{MAGIC, subframe};
use crate::read::skip;
use std::io::{self, BufRead};

/// What the stream says of itself at its beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StreamInfo {
    /// 0 where the stream is no sound.
    pub rate: u32,
    pub n_channels: usize,
    /// Bits of a sample.
    pub width: u32,
    /// `None` where the stream does not say.
    pub n_samples: Option<u64>,
}

/// Decodes a stream.
pub(crate) struct Decoder<R> {
    bits: Bits<R>,
    info: StreamInfo,
    /// One list of samples a channel.
    block: Vec<Vec<i64>>,
}

/// Something that no encoder writes.
pub(super) fn damaged(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

impl<R: BufRead> Decoder<R> {
    /// Reads the beginning of the stream.
    pub fn new(mut input: R) -> io::Result<Self> {
        let mut magic = [0; 4];
        input.read_exact(&mut magic)?;
        if magic != MAGIC {
            return Err(damaged("no FLAC stream"));
        }
        let mut info = None;
        loop {
            let mut head = [0; 4];
            input.read_exact(&mut head)?;
            let (is_last, kind) = (head[0] & 0x80 != 0, head[0] & 0x7f);
            let size = u64::from(u32::from_be_bytes([0, head[1], head[2], head[3]]));
            if info.is_none() {
                if kind != 0 || size < 34 {
                    return Err(damaged("no description of the stream at its beginning"));
                }
                let mut bytes = [0; 34];
                input.read_exact(&mut bytes)?;
                info = Some(stream_info(&bytes)?);
                skip(&mut input, size - 34)?;
            } else {
                skip(&mut input, size)?;
            }
            if is_last {
                break;
            }
        }
        let info = info.ok_or_else(|| damaged("no description of the stream"))?;
        Ok(Self {
            bits: Bits::new(input),
            info,
            block: vec![Vec::new(); info.n_channels],
        })
    }

    pub fn info(&self) -> StreamInfo {
        self.info
    }

    /// The next samples, one list a channel, all of one length; `None` at the end of the stream.
    pub fn next_block(&mut self) -> io::Result<Option<&[Vec<i64>]>> {
        if !self.bits.begin()? {
            return Ok(None);
        }
        let frame = self.frame_header()?;
        let widths = |channel| match (frame.stereo, channel) {
            (Stereo::LeftSide | Stereo::MidSide, 1) | (Stereo::SideRight, 0) => frame.width + 1,
            _ => frame.width,
        };
        for (channel, samples) in self.block.iter_mut().enumerate() {
            samples.clear();
            samples.resize(frame.n_samples, 0);
            subframe::decode(&mut self.bits, widths(channel), samples)?;
        }
        self.bits.align();
        let expected = u64::from(self.bits.sums.of_frame);
        if self.bits.take(16)? != expected {
            return Err(damaged("a frame whose checksum is another"));
        }
        if let [first, second] = &mut self.block[..] {
            frame.stereo.undo(first, second);
        }
        Ok(Some(&self.block))
    }

    /// Decodes all that is left; gives the samples of a channel.
    pub fn count(&mut self) -> io::Result<u64> {
        let mut n_samples = 0;
        while let Some(block) = self.next_block()? {
            n_samples += block[0].len() as u64;
        }
        Ok(n_samples)
    }

    fn frame_header(&mut self) -> io::Result<Frame> {
        let bits = &mut self.bits;
        if bits.take(15)? != 0b111_1111_1111_1100 {
            return Err(damaged("no frame where one should begin"));
        }
        bits.take(1)?;
        let (size_code, rate_code) = (bits.take(4)?, bits.take(4)?);
        let (channel_code, width_code) = (bits.take(4)?, bits.take(3)?);
        bits.take(1)?;
        // The number of the frame or of its first sample, as UTF-8 would write it.
        let first = bits.take(8)? as u8;
        let n_more = match first.leading_ones() {
            0 => 0,
            n @ 2..=7 => n - 1,
            _ => return Err(damaged("a frame without a number")),
        };
        for _ in 0..n_more {
            bits.take(8)?;
        }
        let n_samples = match size_code {
            0 => return Err(damaged("a frame without a length")),
            1 => 192,
            2..=5 => 144 << size_code,
            6 => bits.take(8)? as usize + 1,
            7 => bits.take(16)? as usize + 1,
            _ => 256 << (size_code - 8),
        };
        match rate_code {
            12 => drop(bits.take(8)?),
            13 | 14 => drop(bits.take(16)?),
            15 => return Err(damaged("a frame of an unknown rate")),
            _ => {}
        }
        let expected = u64::from(bits.sums.of_header);
        if bits.take(8)? != expected {
            return Err(damaged("the header of a frame whose checksum is another"));
        }
        let (n_channels, stereo) = match channel_code {
            0..=7 => (channel_code as usize + 1, Stereo::Apart),
            8 => (2, Stereo::LeftSide),
            9 => (2, Stereo::SideRight),
            10 => (2, Stereo::MidSide),
            _ => return Err(damaged("channels in an unknown order")),
        };
        let width = match width_code {
            0 => self.info.width,
            1 => 8,
            2 => 12,
            4 => 16,
            5 => 20,
            6 => 24,
            7 => 32,
            _ => return Err(damaged("samples of an unknown width")),
        };
        if n_channels != self.info.n_channels || width != self.info.width {
            return Err(damaged("a frame of other channels than the stream has"));
        }
        Ok(Frame {
            n_samples,
            stereo,
            width,
        })
    }
}

/// What a frame holds.
struct Frame {
    n_samples: usize,
    stereo: Stereo,
    width: u32,
}

/// How two channels are written.
#[derive(Clone, Copy)]
enum Stereo {
    Apart,
    /// The left one, and left − right.
    LeftSide,
    /// Left − right, and the right one.
    SideRight,
    /// Half the sum, rounded down, and left − right.
    MidSide,
}

impl Stereo {
    /// Turns what is written into left and right.
    fn undo(self, first: &mut [i64], second: &mut [i64]) {
        for (a, b) in first.iter_mut().zip(second) {
            (*a, *b) = match self {
                Stereo::Apart => return,
                Stereo::LeftSide => (*a, *a - *b),
                Stereo::SideRight => (*a + *b, *b),
                Stereo::MidSide => {
                    let sum = *a << 1 | *b & 1;
                    ((sum + *b) >> 1, (sum - *b) >> 1)
                }
            };
        }
    }
}

fn stream_info(bytes: &[u8; 34]) -> io::Result<StreamInfo> {
    let mut bits = [0; 8];
    bits.copy_from_slice(&bytes[10..18]);
    // 20 bits of rate, 3 of channels, 5 of width, 36 of length.
    let bits = u64::from_be_bytes(bits);
    let width = (bits >> 36 & 31) as u32 + 1;
    if width < 4 {
        return Err(damaged("samples of fewer than 4 bits"));
    }
    Ok(StreamInfo {
        rate: (bits >> 44) as u32,
        n_channels: (bits >> 41 & 7) as usize + 1,
        width,
        n_samples: Some(bits & ((1 << 36) - 1)).filter(|&n| n > 0),
    })
}
