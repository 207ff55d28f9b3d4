//! Names of columns that are no signals, in the languages that tables are written in.
//!
//! In: the name of a column. Out: what it says. Whether its values agree is not judged here.

/// What a name says about its column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Named {
    /// Time for certain, in units of so many seconds where the name says it.
    Time(Option<f64>),
    /// Time if it rises in equal steps.
    Perhaps(f64),
    /// Time in years.
    Year,
    /// A number of the row if it rises by ones.
    Index,
    /// A signal.
    Signal,
}

/// The time, in languages that tables are written in.
const TIME: &str = "\
    time times timestamp timestamps datetime date elapsed zeit zeitstempel uhrzeit datum \
    temps horodatage heure tiempo fecha hora tijd tijdstempel dato czas čas aika \
    zaman tarih время дата час χρόνος idő timp 时间 時間 时间戳 日期 時刻 시간 الوقت الزمن זמן समय";

/// Words before `time` and `date` that leave it the time of the samples: a reaction time is a
/// signal.
const KINDS_OF_TIME: &str = "\
    local gmt utc unix sample recording elapsed relative system device lsl epoch gps clock \
    absolute";

const INDEX: &str = "\
    index idx sample samples row rows n nr no frame frames packet counter sampleindex \
    samplenumber indice índice échantillon échantillons muestra campione zeile nummer номер 序号 编号";

const EVENTS: &str = "\
    event events marker markers trigger triggers stim stimulus stimuli label labels \
    annotation annotations comment comments note notes ereignis ereignisse marke markierung \
    événement évènement marqueur evento eventos marcador marcatore событие метка 标记 イベント";

/// Those that devices number: `Marker0`.
const NUMBERED_EVENTS: &str = "event marker trigger stim";

/// Whether a word is one of a list.
fn holds(list: &str, word: &str) -> bool {
    list.split_whitespace().any(|own| own == word)
}

/// The words of a name, in small letters.
fn words(lower: &str) -> Vec<&str> {
    lower
        .split(|letter: char| !letter.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .collect()
}

/// Seconds of the unit that one of the words names.
fn unit(words: &[&str]) -> Option<f64> {
    words.iter().find_map(|word| {
        Some(match *word {
            "s" | "sec" | "secs" | "second" | "seconds" | "sek" | "sekunden" | "с" | "сек"
            | "秒" => 1.0,
            "ms" | "msec" | "millis" | "milliseconds" | "millisekunden" | "мс" | "毫秒" => 1e-3,
            "us" | "µs" | "μs" | "usec" | "microseconds" | "мкс" | "微秒" => 1e-6,
            "ns" | "nsec" | "nanoseconds" => 1e-9,
            "min" | "mins" | "minutes" | "minuten" | "мин" | "分钟" => 60.0,
            "h" | "hours" | "hour" | "stunden" => 3600.0,
            _ => return None,
        })
    })
}

pub(super) fn named(name: &str) -> Named {
    let lower = name.to_lowercase();
    let words = words(&lower);
    match words.as_slice() {
        [first, rest @ ..] if holds(TIME, first) => Named::Time(unit(rest)),
        [kind, "time" | "timestamp" | "date" | "datetime", rest @ ..]
            if holds(KINDS_OF_TIME, kind) =>
        {
            Named::Time(unit(rest))
        }
        ["year" | "years" | "jahr" | "année" | "año" | "anno" | "ano" | "год" | "年"] => {
            Named::Year
        }
        ["thời", "gian", rest @ ..] => Named::Time(unit(rest)),
        // Some of these are other things as well.
        ["t" | "tempo" | "tid" | "utc" | "gmt", rest @ ..] => {
            Named::Perhaps(unit(rest).unwrap_or(1.0))
        }
        [only] if unit(&[only]).is_some() => Named::Perhaps(unit(&[only]).unwrap_or(1.0)),
        [] | ["unnamed", "0"] => Named::Index,
        [
            "sample" | "packet" | "row" | "frame",
            "index" | "number" | "counter" | "no" | "nr" | "id",
        ] => Named::Index,
        [only] if holds(INDEX, only) => Named::Index,
        _ => Named::Signal,
    }
}

/// Whether a column of this name holds events, not a signal.
pub(crate) fn names_events(name: &str) -> bool {
    let lower = name.to_lowercase();
    let words = words(&lower);
    match words.as_slice() {
        [only] => {
            let plain = only.trim_end_matches(|letter: char| letter.is_ascii_digit());
            holds(EVENTS, only) || holds(NUMBERED_EVENTS, plain)
        }
        [kind, rest] => {
            holds(EVENTS, kind) && ["code", "type", "name", "id", "value", "channel"].contains(rest)
        }
        _ => false,
    }
}

/// Whether a column is called the time, for certain.
pub(crate) fn is_called_time(name: &str) -> bool {
    matches!(named(name), Named::Time(_))
}

/// Whether a column of this name can be the time.
pub(crate) fn candidate(name: &str) -> bool {
    named(name) != Named::Signal
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_named_by_whole_words() {
        assert!(names_events("Marker") && names_events("trigger code"));
        assert!(names_events("Marker0") && names_events("évènement"));
        assert!(!names_events("event rate") && !names_events("Fz") && !names_events("label1"));
    }
}
