//! Triggers of a FIF recording as events.
//!
//! In: the channel of triggers. Out: an event named by its number wherever that rises, as
//! `mne.find_events` has it by default. The channel is `STI101`, or `STI 014`, or the only one.

use super::FifReader;
use crate::error::Result;
use crate::read::Event;
use crate::read::numbers::Endian;

/// Finds the triggers and adds them to what is known of the recording.
pub(super) fn add(reader: &mut FifReader) -> Result<()> {
    let stims: Vec<usize> = (0..reader.channels().len())
        .filter(|&channel| reader.channels()[channel].is_stim())
        .collect();
    let named = |name: &str| {
        let mut stims = stims.iter();
        stims.find(|&&channel| reader.channels()[channel].name == name)
    };
    let only = (stims.len() == 1).then(|| &stims[0]);
    let chosen = named("STI101").or_else(|| named("STI 014")).or(only);
    let Some(&channel) = chosen else {
        if !stims.is_empty() {
            let names: Vec<&str> = stims
                .iter()
                .map(|&channel| reader.contents.channels[channel].name.as_str())
                .collect();
            let names = crate::read::assemble::shortened(&names);
            let text = format!("which of {names} holds the triggers is not known: none is read");
            reader.contents.detected(text);
        }
        return Ok(());
    };
    let (rate, rows) = (reader.parts[0].rate, 0..reader.n_samples());
    let (mut before, mut events) = (None, Vec::new());
    reader.each_run(rows, |channels, buffer, row, bytes| {
        let (size, decode) = (buffer.number.size(), buffer.number.decoder(Endian::Big));
        let factor = channels[channel].factor;
        for (i, frame) in bytes.chunks_exact(size * channels.len()).enumerate() {
            let value = (decode(&frame[channel * size..]) * factor).round();
            if value > 0.0 && before.is_some_and(|before| value > before) {
                events.push(Event {
                    onset: (row + i) as f64 / rate,
                    duration: 0.0,
                    name: value.to_string(),
                });
            }
            before = Some(value);
        }
        Ok(())
    })?;
    if !events.is_empty() {
        let name = reader.contents.channels[channel].name.clone();
        let count = events.len();
        reader
            .contents
            .detected(format!("{count} triggers of channel `{name}` are events"));
    }
    reader.contents.events.extend(events);
    Ok(())
}
