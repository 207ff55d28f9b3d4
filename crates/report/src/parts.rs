//! What pages are made of, for programs that write pages of their own in the style of this crate.
//!
//! A [`Page`] has [`Section`]s of [`Part`]s: sentences, tables and [`Chart`]s, which [`lines`],
//! [`bars`] and [`heat_map`] draw. All text is escaped where it is written.

pub use crate::number::{counted, significant};
pub use crate::page::chart::{
    AxisStyle, Chart, Places, Scale, Series, Side, bars, heat_map, lines,
};
pub use crate::page::view::{Page, Part, Section, Status, Table};
pub use crate::palette::source as series_color;
