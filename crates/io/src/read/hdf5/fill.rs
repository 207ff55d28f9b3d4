//! The numbers of an HDF5 dataset → a [`Table`], in tiles of bounded size that follow the chunks of
//! the file, so that each chunk is unpacked once. Chunks that were never written hold the fill
//! value of the dataset, as everywhere in HDF5.

use super::file::{Decoded, File};
use crate::error::Result;
use crate::read::numbers::{Block, Order};
use crate::read::table::Table;
use hdf5_reader::{Dataset, SliceInfo, SliceInfoElem};
use std::ops::Range;

/// Numbers that are decoded at once, unless one chunk has more.
const BATCH: usize = 1 << 18;

/// Decodes a dataset, seen as `block`.
pub(super) fn fill(file: &File, dataset: &Dataset, block: &Block, table: &mut Table) -> Result<()> {
    let Some(shape) = super::file::shape(dataset) else {
        return Ok(());
    };
    let wanted = wanted(&shape, block, table);
    let steps = steps(dataset, &shape);
    let mut first: Vec<usize> = wanted.iter().map(|range| range.start).collect();
    if wanted.iter().any(Range::is_empty) {
        return Ok(());
    }
    loop {
        let tile: Vec<Range<usize>> = (0..shape.len())
            .map(|axis| {
                // Tiles begin where chunks do, except the first.
                let end = (first[axis] / steps[axis] + 1) * steps[axis];
                first[axis]..end.min(wanted[axis].end)
            })
            .collect();
        if is_wanted(&tile, block, table) {
            read_tile(file, dataset, &shape, &tile, block, table)?;
        }
        // The next tile: the last axis runs fastest.
        let mut axis = shape.len();
        loop {
            let Some(previous) = axis.checked_sub(1) else {
                return Ok(());
            };
            axis = previous;
            if tile[axis].end < wanted[axis].end {
                first[axis] = tile[axis].end;
                break;
            }
            first[axis] = wanted[axis].start;
        }
    }
}

/// The part of every axis that holds wanted samples: known where one axis is time.
fn wanted(shape: &[usize], block: &Block, table: &Table) -> Vec<Range<usize>> {
    let mut wanted: Vec<Range<usize>> = shape.iter().map(|&n| 0..n).collect();
    match (shape, block.order) {
        ([n], _) if *n == block.n_samples => wanted[0] = table.rows(),
        ([_, _], Order::Interleaved) if shape[0] == block.n_samples => wanted[0] = table.rows(),
        ([_, _], Order::Planar) if shape[1] == block.n_samples => wanted[1] = table.rows(),
        _ => {}
    }
    wanted
}

/// How far a tile goes along every axis: whole chunks, and as many of them along the slowest axis
/// that allows it as a batch has room for.
fn steps(dataset: &Dataset, shape: &[usize]) -> Vec<usize> {
    let chunk = dataset.chunks();
    let chunk_of = |axis: usize| {
        let chunk = chunk.as_ref().and_then(|chunk| chunk.get(axis));
        (chunk.map_or(1, |&n| n as usize)).max(1)
    };
    let mut steps: Vec<usize> = (0..shape.len()).map(chunk_of).collect();
    for axis in (0..shape.len()).rev() {
        let others = (0..shape.len()).filter(|&other| other != axis);
        let per_step: usize = others.fold(1, |product: usize, other| {
            product.saturating_mul(steps[other].min(shape[other]))
        });
        let n_chunks = (BATCH / per_step.max(1) / steps[axis]).max(1);
        steps[axis] = steps[axis].saturating_mul(n_chunks);
        if steps[axis] < shape[axis] {
            break;
        }
    }
    steps
}

/// Whether a tile of a plain matrix holds a channel that is wanted.
fn is_wanted(tile: &[Range<usize>], block: &Block, table: &Table) -> bool {
    let channels = match (tile, block.order) {
        ([_, channels], Order::Interleaved) if channels.end <= block.n_channels => channels,
        ([channels, _], Order::Planar) if channels.end <= block.n_channels => channels,
        _ => return true,
    };
    channels.clone().any(|channel| table.wants(channel))
}

fn read_tile(
    file: &File,
    dataset: &Dataset,
    shape: &[usize],
    tile: &[Range<usize>],
    block: &Block,
    table: &mut Table,
) -> Result<()> {
    let selections = tile.iter().map(|range| SliceInfoElem::Slice {
        start: range.start as u64,
        end: range.end as u64,
        step: 1,
    });
    let selection = SliceInfo {
        selections: selections.collect(),
    };
    let place = format!("dataset `{}`", dataset.name());
    let values = dataset
        .read_slice::<Decoded>(&selection)
        .map_err(file.wrong(place))?;
    let mut index: Vec<usize> = tile.iter().map(|range| range.start).collect();
    for Decoded(value) in values.iter() {
        let at = index.iter().zip(shape).fold(0, |at, (&i, &n)| at * n + i);
        let (sample, channel) = block.place(at);
        table.set(sample, channel, *value);
        for axis in (0..index.len()).rev() {
            index[axis] += 1;
            if index[axis] < tile[axis].end {
                break;
            }
            index[axis] = tile[axis].start;
        }
    }
    Ok(())
}
