//! Thrift's compact protocol, as far as the headers of a Parquet file need it: writing only.

/// Writes a structure field by field.
pub(super) struct Writer {
    bytes: Vec<u8>,
    /// Number of the last field of every open structure.
    last: Vec<i16>,
}

impl Writer {
    pub fn new() -> Self {
        let (bytes, last) = (Vec::new(), vec![0]);
        Self { bytes, last }
    }

    fn head(&mut self, number: i16, kind: u8) {
        let last = self.last.last_mut().expect("a structure is open");
        let step = number - std::mem::replace(last, number);
        // Fields are written in rising order, close to each other.
        self.bytes.push((step as u8) << 4 | kind);
    }

    fn unsigned(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.bytes.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.bytes.push(value as u8);
    }

    fn number(&mut self, value: i64) {
        self.unsigned((value << 1 ^ value >> 63) as u64);
    }

    pub fn i32(&mut self, field: i16, value: i32) {
        self.head(field, 5);
        self.number(i64::from(value));
    }

    pub fn i64(&mut self, field: i16, value: i64) {
        self.head(field, 6);
        self.number(value);
    }

    pub fn text(&mut self, field: i16, text: &str) {
        self.head(field, 8);
        self.element_text(text);
    }

    pub fn element_text(&mut self, text: &str) {
        self.unsigned(text.len() as u64);
        self.bytes.extend(text.as_bytes());
    }

    pub fn element_i32(&mut self, value: i32) {
        self.number(i64::from(value));
    }

    /// A list whose elements are written next; `kind` is 5 for i32, 8 for text, 12 for structures.
    pub fn list(&mut self, field: i16, kind: u8, count: usize) {
        self.head(field, 9);
        match count {
            0..15 => self.bytes.push((count as u8) << 4 | kind),
            _ => {
                self.bytes.push(0xf0 | kind);
                self.unsigned(count as u64);
            }
        }
    }

    pub fn open(&mut self, field: i16) {
        self.head(field, 12);
        self.last.push(0);
    }

    pub fn open_element(&mut self) {
        self.last.push(0);
    }

    pub fn close(&mut self) {
        self.bytes.push(0);
        self.last.pop();
    }

    pub fn finish(mut self) -> Vec<u8> {
        self.bytes.push(0);
        self.bytes
    }
}
