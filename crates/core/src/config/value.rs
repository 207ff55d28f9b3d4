//! What a setting can hold, and how a user types it.
//!
//! Messages, files and pages spell values as TOML does (`0.5`, `"least_squares"`, `[4, 8]`,
//! `nan`), never as Rust prints them. Reading such a text is left to serde.

/// One of the words that a setting can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The word, without quotation marks.
    pub name: &'static str,
    /// What it means.
    pub doc: &'static str,
}

/// What a setting holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `true` or `false`.
    Flag,
    /// A whole number, not negative.
    Whole,
    /// A number.
    Number,
    /// A list of whole numbers.
    Wholes,
    /// A list of numbers.
    Numbers,
    /// One of a few words.
    OneOf(&'static [Choice]),
}

impl Kind {
    /// What a setting of this kind expects, in words.
    pub fn noun(self) -> &'static str {
        match self {
            Kind::Flag => "true or false",
            Kind::Whole => "a whole number",
            Kind::Number => "a number",
            Kind::Wholes => "a list of whole numbers",
            Kind::Numbers => "a list of numbers",
            Kind::OneOf(_) => "a word",
        }
    }
}

/// A type that a field of the configuration can have.
pub trait Value {
    /// What the field holds.
    const KIND: Kind;

    /// The value as TOML has it; `None` where it is left to its automatic rule.
    fn spelled(&self) -> Option<String>;

    /// The numbers in it, which bounds judge.
    fn numbers(&self) -> Vec<f64> {
        Vec::new()
    }

    /// Whether it is left to its automatic rule.
    fn is_absent(&self) -> bool {
        self.spelled().is_none()
    }
}

/// A number as TOML has it: always with a point or an exponent, so that it reads back as a number.
fn spell_number(number: f64) -> String {
    if number.is_nan() {
        return "nan".into();
    }
    format!("{number:?}")
}

impl Value for bool {
    const KIND: Kind = Kind::Flag;
    fn spelled(&self) -> Option<String> {
        Some(self.to_string())
    }
}

impl Value for usize {
    const KIND: Kind = Kind::Whole;
    fn spelled(&self) -> Option<String> {
        Some(self.to_string())
    }
    fn numbers(&self) -> Vec<f64> {
        vec![*self as f64]
    }
}

impl Value for u64 {
    const KIND: Kind = Kind::Whole;
    fn spelled(&self) -> Option<String> {
        Some(self.to_string())
    }
}

impl Value for f64 {
    const KIND: Kind = Kind::Number;
    fn spelled(&self) -> Option<String> {
        Some(spell_number(*self))
    }
    fn numbers(&self) -> Vec<f64> {
        vec![*self]
    }
}

impl Value for Vec<usize> {
    const KIND: Kind = Kind::Wholes;
    fn spelled(&self) -> Option<String> {
        Some(format!("{self:?}"))
    }
    fn numbers(&self) -> Vec<f64> {
        self.iter().map(|&n| n as f64).collect()
    }
}

impl Value for Vec<f64> {
    const KIND: Kind = Kind::Numbers;
    fn spelled(&self) -> Option<String> {
        let items: Vec<String> = self.iter().map(|&x| spell_number(x)).collect();
        Some(format!("[{}]", items.join(", ")))
    }
    fn numbers(&self) -> Vec<f64> {
        self.clone()
    }
}

impl<T: Value> Value for Option<T> {
    const KIND: Kind = T::KIND;
    fn spelled(&self) -> Option<String> {
        self.as_ref().and_then(T::spelled)
    }
    fn numbers(&self) -> Vec<f64> {
        self.as_ref().map_or_else(Vec::new, T::numbers)
    }
}

/// Defines a type that is one of a few words: the enum, its spelling, and what each word means.
macro_rules! choices {
    ($(
        $(#[doc = $about:literal])+
        $name:ident {
            $( $(#[doc = $doc:literal])+ $variant:ident = $word:literal, )+
        }
    )+) => { $(
        $(#[doc = $about])+
        #[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
        pub enum $name {
            $( $(#[doc = $doc])+ #[serde(rename = $word)] $variant, )+
        }

        impl $name {
            /// The words that a user types, and what they mean.
            pub const CHOICES: &'static [$crate::config::Choice] = &[
                $( $crate::config::Choice { name: $word, doc: concat!($($doc, "\n"),+) }, )+
            ];

            /// The word that a user types.
            pub fn name(self) -> &'static str {
                match self {
                    $( $name::$variant => $word, )+
                }
            }
        }

        impl $crate::config::Value for $name {
            const KIND: $crate::config::Kind = $crate::config::Kind::OneOf($name::CHOICES);
            fn spelled(&self) -> Option<String> {
                Some(format!("\"{}\"", self.name()))
            }
        }
    )+ };
}

pub(super) use choices;
