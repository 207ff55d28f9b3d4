//! Which format a file has: by its first bytes, checked against its name.
//!
//! In: a path. Out: a [`Format`] that the reader of that format can start from. A name that
//! promises another format than the bytes hold is an error that says what the bytes look like; a
//! name that promises nothing is no obstacle. The contents are not checked beyond their first
//! bytes.

use super::brainvision;
#[cfg(feature = "packed")]
use super::packed::Packing;
use super::source::Source;
use crate::error::{Error, Result};
use std::fmt;
use std::path::{Path, PathBuf};

/// The formats of recordings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Format {
    /// Comma-, tab- or otherwise separated text.
    Text,
    /// One NumPy array.
    Npy,
    /// An archive of NumPy arrays.
    Npz,
    /// MATLAB 5 to 7.
    Mat5,
    /// MATLAB 7.3 and other HDF5 files.
    Hdf5,
    /// European Data Format, with EDF+.
    Edf,
    /// BioSemi's 24-bit form of EDF, with BDF+.
    Bdf,
    /// Sound.
    Wav,
    /// Sound, packed without loss.
    Flac,
    /// Sound, packed with loss: Vorbis in Ogg.
    Ogg,
    /// A Parquet table.
    Parquet,
    /// EEGLAB, with or without a separate `.fdt` file.
    Eeglab,
    /// PhysioNet's WFDB: a header `.hea` and its signal files.
    Wfdb,
    /// BrainVision: a header `.vhdr` with markers `.vmrk` and numbers `.eeg`.
    BrainVision,
    /// MNE's and Neuromag's FIF: raw data.
    Fif,
    /// GDF of BioSig.
    Gdf,
    /// XDF of the lab streaming layer.
    Xdf,
    /// Near-infrared spectroscopy in HDF5.
    Snirf,
}

impl Format {
    /// What people call it.
    pub fn name(self) -> &'static str {
        match self {
            Format::Text => "text (CSV, TSV)",
            Format::Npy => "NumPy (NPY)",
            Format::Npz => "NumPy archive (NPZ)",
            Format::Mat5 => "MATLAB 5-7",
            Format::Hdf5 => "MATLAB 7.3 (HDF5)",
            Format::Edf => "EDF",
            Format::Bdf => "BDF",
            Format::Wav => "WAV",
            Format::Flac => "FLAC",
            Format::Ogg => "Ogg Vorbis",
            Format::Snirf => "SNIRF",
            Format::Parquet => "Parquet",
            Format::Eeglab => "EEGLAB",
            Format::Wfdb => "WFDB",
            Format::BrainVision => "BrainVision",
            Format::Fif => "FIF",
            Format::Gdf => "GDF",
            Format::Xdf => "XDF",
        }
    }

    /// An ending that suits.
    fn ending(self) -> &'static str {
        match self {
            Format::Text => "csv",
            Format::Npy => "npy",
            Format::Npz => "npz",
            Format::Mat5 | Format::Hdf5 => "mat",
            Format::Edf => "edf",
            Format::Bdf => "bdf",
            Format::Wav => "wav",
            Format::Flac => "flac",
            Format::Ogg => "ogg",
            Format::Snirf => "snirf",
            Format::Parquet => "parquet",
            Format::Eeglab => "set",
            Format::Wfdb => "hea",
            Format::BrainVision => "vhdr",
            Format::Fif => "fif",
            Format::Gdf => "gdf",
            Format::Xdf => "xdf",
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name())
    }
}

/// Finds the format, and the file to start from, unpacked: the header where another file of a WFDB
/// record or a BrainVision recording is named.
pub(crate) fn sniff(path: &Path) -> Result<(Format, Source)> {
    let header = path.with_extension("hea");
    let longer = PathBuf::from(format!("{}.hea", path.display()));
    if !path.exists() && longer.is_file() {
        return Ok((Format::Wfdb, Source::open(&longer)?));
    }
    #[cfg_attr(not(feature = "packed"), allow(unused_mut))]
    let mut ending = ending(path);
    // The signals of WFDB have no magic; the header beside them tells.
    if ending == "dat" && header.is_file() {
        return Ok((Format::Wfdb, Source::open(&header)?));
    }
    if let Some(header) = brainvision::header_of(path, &ending)? {
        return Ok((Format::BrainVision, Source::open(&header)?));
    }
    let mut source = Source::open(path)?;
    if ending == "fdt" {
        let found = "its numbers only";
        return Err(Error::kind(
            path,
            "an EEGLAB data set",
            found,
            "give the .set file beside it",
        ));
    }
    #[cfg_attr(not(feature = "packed"), allow(unused_mut))]
    let mut head = source.head(4096)?;
    #[cfg(feature = "packed")]
    if let Some(packing) = Packing::of(&head) {
        source = source.unpacked(packing)?;
        head = source.head(4096)?;
        if Packing::named(path).is_some() {
            ending = self::ending(&path.with_extension(""));
        }
    }
    #[cfg(feature = "packed")]
    if ending == "set" && source.is_unpacked() {
        let expected = "a data set beside the file of its numbers";
        return Err(Error::kind(path, expected, "a packed one", UNPACK));
    }
    let mut looks = Looks::like(&head);
    // Workbooks are archives, as NPZ is.
    if matches!(looks, Looks::Format(Format::Npz)) && ["xlsx", "xlsm", "ods"].contains(&&*ending) {
        looks = Looks::Other("a spreadsheet", "save it as CSV");
    }
    let format = match (expected(&ending), looks) {
        (Some(expected), Looks::Format(found)) if expected.contains(&found) => {
            expected[0].or(found)
        }
        // WFDB headers are text.
        (Some([Format::Wfdb]), Looks::Format(Format::Text)) => Format::Wfdb,
        (None, Looks::Format(found)) => found,
        (Some(expected), Looks::Format(found)) => {
            return Err(Error::kind(
                path,
                format!("{}, as its name says", expected[0].name()),
                format!("what looks like {found}"),
                format!(
                    "rename it to end in .{}, or use the file that was meant",
                    found.ending()
                ),
            ));
        }
        (Some(expected), Looks::Other(found, remedy)) => {
            let expected_format = format!("{}, as its name says", expected[0].name());
            let remedy = match expected[0] {
                Format::Mat5 => "save it in MATLAB with `save -v7`",
                _ => remedy,
            };
            return Err(Error::kind(path, expected_format, found, remedy));
        }
        (None, Looks::Other(UNKNOWN, _)) if ending == "dat" => {
            let expected = format!("a WFDB header `{}` beside it", name_of(&header));
            return Err(Error::kind(
                path,
                expected,
                "numbers alone, which do not say what they are",
                "copy the header to the same directory, or convert it to CSV, NPY, EDF or WAV",
            ));
        }
        (None, Looks::Other(found, remedy)) => {
            return Err(Error::kind(
                path,
                "a recording in a known format",
                found,
                remedy,
            ));
        }
    };
    Ok((format, source))
}

/// The last part of a path.
fn name_of(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

/// The ending of a name, in small letters.
fn ending(path: &Path) -> String {
    let ending = path.extension().unwrap_or_default();
    ending.to_string_lossy().to_lowercase()
}

/// The formats that an ending stands for.
fn expected(ending: &str) -> Option<&'static [Format]> {
    Some(match ending {
        "csv" | "tsv" | "tab" => &[Format::Text],
        "npy" => &[Format::Npy],
        "npz" => &[Format::Npz],
        "mat" => &[Format::Mat5, Format::Hdf5],
        "set" => &[Format::Eeglab, Format::Mat5, Format::Hdf5],
        "h5" | "hdf5" => &[Format::Hdf5],
        "edf" => &[Format::Edf],
        "bdf" => &[Format::Bdf],
        "wav" | "wave" => &[Format::Wav],
        "flac" => &[Format::Flac],
        "ogg" | "oga" => &[Format::Ogg],
        "snirf" => &[Format::Snirf, Format::Hdf5],
        "parquet" | "pq" => &[Format::Parquet],
        "hea" => &[Format::Wfdb],
        "vhdr" | "ahdr" => &[Format::BrainVision],
        "fif" => &[Format::Fif],
        "gdf" => &[Format::Gdf],
        "xdf" => &[Format::Xdf],
        _ => return None,
    })
}

impl Format {
    /// EEGLAB files look like MATLAB files, SNIRF files like HDF5; only their name tells.
    fn or(self, found: Format) -> Format {
        match self {
            Format::Eeglab | Format::Snirf => self,
            _ => found,
        }
    }
}

/// What the first bytes of a file say.
enum Looks {
    Format(Format),
    /// Something that cannot be read, and what to do.
    Other(&'static str, &'static str),
}

const CONVERT: &str = "convert it to CSV, NPY, EDF or WAV";
const UNPACK: &str = "unpack it first";
const UNKNOWN: &str = "bytes that are neither text nor any format this program knows";

/// First bytes of files that people mistake for recordings, or hope can be read.
const KNOWN_BUT_NOT_READ: &[(&[u8], &str, &str)] = &[
    #[cfg(not(feature = "packed"))]
    (b"\x1f\x8b", "a gzip file", UNPACK),
    (b"BZh", "a bzip2 file", UNPACK),
    (b"\xfd7zXZ\0", "an xz file", UNPACK),
    #[cfg(not(feature = "packed"))]
    (b"\x28\xb5\x2f\xfd", "a zstd file", UNPACK),
    (b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive", UNPACK),
    (b"RIFX", "a big-endian WAV file", CONVERT),
    (
        b"OggS",
        "an Ogg file that holds no Vorbis (Opus, FLAC or Speex)",
        CONVERT,
    ),
    (b"FORM", "an AIFF or another IFF file", CONVERT),
    (b"caff", "a CAF sound file", CONVERT),
    (b"riff\x2e\x91\xcf\x11", "a Wave64 sound file", CONVERT),
    (b"\xff\xfb", "an MP3 file", CONVERT),
    (b"\xff\xf3", "an MP3 file", CONVERT),
    (b"ID3", "an MP3 file", CONVERT),
    (b"ARROW1", "an Arrow file", CONVERT),
    (b"CDF\x01", "a netCDF file", CONVERT),
    (b"CDF\x02", "a netCDF file", CONVERT),
    (b"%PDF", "a PDF document", CONVERT),
    (b"\x89PNG", "a picture", CONVERT),
    (b"\xff\xd8\xff", "a picture", CONVERT),
    (b"SQLite format 3", "a database", CONVERT),
    (b"\xd0\xcf\x11\xe0", "an old Excel or Word file", CONVERT),
    (b"\xff\xfe", "text in UTF-16", "save it as UTF-8"),
    (b"\xfe\xff", "text in UTF-16", "save it as UTF-8"),
];

/// Whether a file starts like MATLAB 5 to 7: version 1 and the byte order. MATLAB 7.3 has version 2
/// there.
pub(crate) fn is_mat5(head: &[u8]) -> bool {
    matches!(head.get(124..128), Some(b"\x00\x01IM" | b"\x01\x00MI"))
}

impl Looks {
    fn like(head: &[u8]) -> Self {
        let at = |place: usize, bytes: &[u8]| {
            head.get(place..)
                .is_some_and(|rest| rest.starts_with(bytes))
        };
        const HDF5: &[u8] = b"\x89HDF\r\n\x1a\n";
        // The tag of the file itself: kind 100, type 31, 20 bytes.
        const FIF: &[u8] = b"\0\0\0\x64\0\0\0\x1f\0\0\0\x14";
        if at(0, b"\x93NUMPY") {
            return Looks::Format(Format::Npy);
        }
        if at(0, b"PK\x03\x04") || at(0, b"PK\x05\x06") {
            return Looks::Format(Format::Npz);
        }
        if at(0, HDF5) || at(512, HDF5) || at(1024, HDF5) || at(2048, HDF5) {
            return Looks::Format(Format::Hdf5);
        }
        if is_mat5(head) {
            return Looks::Format(Format::Mat5);
        }
        if (at(0, b"RIFF") || at(0, b"RF64")) && at(8, b"WAVE") {
            return Looks::Format(Format::Wav);
        }
        if Format::is_brainvision(head) {
            return Looks::Format(Format::BrainVision);
        }
        if at(0, FIF) {
            return Looks::Format(Format::Fif);
        }
        if at(0, b"GDF ") {
            return Looks::Format(Format::Gdf);
        }
        if at(0, b"XDF:") {
            return Looks::Format(Format::Xdf);
        }
        if at(0, b"fLaC") {
            return Looks::Format(Format::Flac);
        }
        // The first packet follows a page header of 27 bytes and the lengths of its segments, of
        // which it has one.
        if at(0, b"OggS") && at(28, b"\x01vorbis") {
            return Looks::Format(Format::Ogg);
        }
        if at(0, b"PAR1") {
            return Looks::Format(Format::Parquet);
        }
        if at(0, b"\xffBIOSEMI") {
            return Looks::Format(Format::Bdf);
        }
        // Version `0`, and 8 bytes from 184 with the length of the header, which comes in blocks of
        // 256.
        let length = head
            .get(184..192)
            .and_then(|field| std::str::from_utf8(field).ok());
        let length = length.and_then(|field| field.trim().parse::<u32>().ok());
        if at(0, b"0       ")
            && length.is_some_and(|length| length > 0 && length.is_multiple_of(256))
        {
            return Looks::Format(Format::Edf);
        }
        for (magic, found, remedy) in KNOWN_BUT_NOT_READ {
            if at(0, magic) {
                return Looks::Other(found, remedy);
            }
        }
        let is_control = |byte: &u8| *byte < 32 && !b"\t\n\r\x0b\x0c".contains(byte);
        if head.iter().any(is_control) {
            return Looks::Other(UNKNOWN, CONVERT);
        }
        let text = head.trim_ascii_start();
        if text.starts_with(b"<") {
            return Looks::Other("a page or a tree of marks (HTML, XML)", CONVERT);
        }
        // A row of numbers can begin with neither.
        if text.starts_with(b"{") || text.starts_with(b"[{") || text.starts_with(b"[[") {
            return Looks::Other("JSON", CONVERT);
        }
        Looks::Format(Format::Text)
    }
}
