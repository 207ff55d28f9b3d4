//! The two checksums of FLAC frames: CRC-8 of the header, CRC-16 of the whole.

const fn table8() -> [u8; 256] {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut value = byte as u8;
        let mut bit = 0;
        while bit < 8 {
            value = if value & 0x80 != 0 {
                value << 1 ^ 0x07
            } else {
                value << 1
            };
            bit += 1;
        }
        table[byte] = value;
        byte += 1;
    }
    table
}

const fn table16() -> [u16; 256] {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut value = (byte as u16) << 8;
        let mut bit = 0;
        while bit < 8 {
            value = if value & 0x8000 != 0 {
                value << 1 ^ 0x8005
            } else {
                value << 1
            };
            bit += 1;
        }
        table[byte] = value;
        byte += 1;
    }
    table
}

static TABLE8: [u8; 256] = table8();
static TABLE16: [u16; 256] = table16();

/// Both checksums of the bytes so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Checksums {
    pub of_header: u8,
    pub of_frame: u16,
}

impl Checksums {
    pub fn add(&mut self, byte: u8) {
        self.of_header = TABLE8[usize::from(self.of_header ^ byte)];
        let high = (self.of_frame >> 8) as u8;
        self.of_frame = self.of_frame << 8 ^ TABLE16[usize::from(high ^ byte)];
    }

    pub fn of(bytes: &[u8]) -> Self {
        let mut sums = Self::default();
        bytes.iter().for_each(|&byte| sums.add(byte));
        sums
    }
}
