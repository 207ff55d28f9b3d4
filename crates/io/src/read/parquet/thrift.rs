//! Thrift's compact protocol, as far as the headers of Parquet need it: structures of numbers,
//! texts, lists and structures.
//!
//! In: bytes. Out: a [`Value`] tree, or `None` where the bytes are no such thing. A tree is never
//! larger than a fixed multiple of its bytes.

/// Structures in structures.
const DEEPEST: usize = 16;

/// A value of a header.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    Bool(bool),
    Int(i64),
    Bytes(Vec<u8>),
    List(Vec<Value>),
    /// Fields by number.
    Struct(Vec<(i16, Value)>),
    /// A double, which Parquet's headers have no use for.
    Double,
}

impl Value {
    pub fn field(&self, number: i16) -> Option<&Value> {
        match self {
            Value::Struct(fields) => fields
                .iter()
                .find(|(own, _)| *own == number)
                .map(|(_, value)| value),
            _ => None,
        }
    }

    pub fn int(&self, number: i16) -> Option<i64> {
        match self.field(number)? {
            Value::Int(value) => Some(*value),
            _ => None,
        }
    }

    pub fn text(&self, number: i16) -> Option<String> {
        match self.field(number)? {
            Value::Bytes(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
            _ => None,
        }
    }

    pub fn list(&self, number: i16) -> Option<&[Value]> {
        match self.field(number)? {
            Value::List(values) => Some(values),
            _ => None,
        }
    }
}

/// Bytes that are read from the front.
pub(super) struct Input<'a> {
    bytes: &'a [u8],
    pub position: usize,
}

impl<'a> Input<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, position: 0 }
    }

    /// A structure with all it holds.
    pub fn structure(&mut self) -> Option<Value> {
        self.value(12, 0)
    }

    pub fn byte(&mut self) -> Option<u8> {
        let byte = *self.bytes.get(self.position)?;
        self.position += 1;
        Some(byte)
    }

    pub fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let bytes = self
            .bytes
            .get(self.position..self.position.checked_add(count)?)?;
        self.position += count;
        Some(bytes)
    }

    /// Everything that is left.
    pub fn rest(&mut self) -> &'a [u8] {
        let rest = &self.bytes[self.position.min(self.bytes.len())..];
        self.position = self.bytes.len();
        rest
    }

    /// Seven bits a byte, the lowest first.
    pub fn unsigned(&mut self) -> Option<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
        None
    }

    /// The same with the sign in the lowest bit.
    pub fn signed(&mut self) -> Option<i64> {
        let value = self.unsigned()?;
        Some((value >> 1) as i64 ^ -((value & 1) as i64))
    }

    fn value(&mut self, kind: u8, depth: usize) -> Option<Value> {
        if depth > DEEPEST {
            return None;
        }
        Some(match kind {
            1 => Value::Bool(true),
            2 => Value::Bool(false),
            3 => Value::Int(i64::from(self.byte()? as i8)),
            4..=6 => Value::Int(self.signed()?),
            7 => {
                self.take(8)?;
                Value::Double
            }
            8 => {
                let length = usize::try_from(self.unsigned()?).ok()?;
                Value::Bytes(self.take(length)?.to_vec())
            }
            9 | 10 => {
                let head = self.byte()?;
                let count = match head >> 4 {
                    15 => self.unsigned()?,
                    count => u64::from(count),
                };
                // Every element takes at least a byte.
                if count > (self.bytes.len() - self.position) as u64 {
                    return None;
                }
                let mut values = Vec::new();
                for _ in 0..count {
                    values.push(match head & 0x0f {
                        // Booleans in lists are bytes.
                        1 | 2 => Value::Bool(self.byte()? == 1),
                        kind => self.value(kind, depth + 1)?,
                    });
                }
                Value::List(values)
            }
            12 => {
                let (mut fields, mut number) = (Vec::new(), 0i16);
                loop {
                    let head = self.byte()?;
                    if head == 0 {
                        return Some(Value::Struct(fields));
                    }
                    number = match head >> 4 {
                        0 => i16::try_from(self.signed()?).ok()?,
                        step => number.checked_add(i16::from(step))?,
                    };
                    let value = self.value(head & 0x0f, depth + 1)?;
                    fields.push((number, value));
                }
            }
            _ => return None,
        })
    }
}
