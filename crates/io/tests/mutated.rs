//! Damaged files never make a reader panic, hang, or ask for more memory than the file can account
//! for.
//!
//! Every file that other programs wrote is changed at random (bits flipped, bytes and fields
//! overwritten, parts cut out, doubled, swapped or taken from another file) and read; where others
//! belong to it, such as the samples of a header, sometimes one of these instead.
//! `STRT_FUZZ_CASES` sets the number of cases (per test run, all formats together);
//! `STRT_FUZZ_SEED` starts elsewhere, `STRT_FUZZ_ONLY` takes only files whose name ends so.

use std::alloc::{GlobalAlloc, Layout, System};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Instant;
use strt_io::{ReadOptions, inspect, read_recording};

/// Counts what is held, and the most that was.
struct Counting;

static HELD: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

// SAFETY: everything is passed on to the system's allocator; only numbers are kept.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let held = HELD.fetch_add(layout.size(), Relaxed) + layout.size();
        PEAK.fetch_max(held, Relaxed);
        // SAFETY: as for the caller.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        HELD.fetch_sub(layout.size(), Relaxed);
        // SAFETY: as for the caller.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// SplitMix64: small, and the same everywhere.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }

    /// A place, more often near one of the ends: there the headers are.
    fn place(&mut self, length: usize) -> usize {
        match self.below(4) {
            0 => self.below(length.min(64)),
            1 => self.below(length.min(1024)),
            2 => length - 1 - self.below(length.min(512)),
            _ => self.below(length),
        }
    }
}

const WORDS: [&[u8]; 12] = [
    b"-1",
    b"0",
    b"99999999",
    b"1e308",
    b"NaN",
    b"inf",
    b",,,,",
    b"\n\n",
    b"\"",
    b"(9999999999, 9)",
    b"TREE",
    b"+",
];

/// Changes a file in one to four ways.
fn mutate(random: &mut Random, bytes: &mut Vec<u8>, other: &[u8]) {
    for _ in 0..=random.below(4) {
        if bytes.is_empty() {
            return;
        }
        let at = random.place(bytes.len());
        let room = bytes.len() - at;
        match random.below(9) {
            0 => bytes[at] ^= 1 << random.below(8),
            1 => bytes[at] = random.next() as u8,
            2 => {
                // A number of 1 to 8 bytes: zero, one, all ones, the largest, or any.
                let width = [1, 2, 4, 8][random.below(4)].min(room);
                let any = random.next();
                let value = [
                    0,
                    1,
                    u64::MAX,
                    u64::MAX >> 1,
                    1 << 31,
                    0x7fff,
                    any,
                    any % 65536,
                ][random.below(8)];
                bytes[at..at + width].copy_from_slice(&value.to_le_bytes()[..width]);
            }
            3 => {
                let word = WORDS[random.below(WORDS.len())];
                let width = word.len().min(room);
                bytes[at..at + width].copy_from_slice(&word[..width]);
            }
            4 => bytes.truncate(at),
            5 => {
                let count = random.below(room.min(64));
                bytes.drain(at..at + count);
            }
            6 => {
                let count = random.below(room.min(256));
                let part = bytes[at..at + count].to_vec();
                let to = random.below(bytes.len());
                bytes.splice(to..to, part);
            }
            7 => {
                let from = random.below(other.len());
                let part = &other[from..(from + random.below(256)).min(other.len())];
                let width = part.len().min(room);
                bytes[at..at + width].copy_from_slice(&part[..width]);
            }
            _ => {
                let (a, b) = (random.below(bytes.len()), random.below(bytes.len()));
                bytes.swap(a, b);
            }
        }
    }
}

/// Endings of files that others need beside them.
const COMPANIONS: [&str; 6] = ["dat", "xyz", "fdt", "eeg", "vmrk", "vhdr"];

/// Files of a format, with those that belong to them.
fn originals() -> Vec<(PathBuf, Vec<u8>)> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let mut paths: Vec<PathBuf> = fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.retain(|path| {
        let ending = path.extension().unwrap_or_default().to_str().unwrap();
        !["py", "json", "dat", "xyz", "fdt", "eeg"].contains(&ending)
            && !path.to_string_lossy().ends_with("requirements.txt")
    });
    paths.sort();
    paths
        .into_iter()
        .map(|path| (path.clone(), fs::read(path).unwrap()))
        .collect()
}

/// The files that belong to one: of the same name with another ending.
fn companions_of(path: &Path) -> Vec<PathBuf> {
    let with = |ending: &&str| path.with_extension(ending);
    let others = COMPANIONS.iter().map(with);
    others
        .filter(|other| other != path && other.is_file())
        .collect()
}

/// What a file of this size may cost at most: packed bytes stand for up to 1032 others, each of
/// which may be a number.
fn limit(path: &Path, size: usize) -> usize {
    let packs = [
        "npz", "mat", "h5", "set", "parquet", "flac", "ogg", "gz", "zst", "snirf",
    ]
    .contains(&path.extension().unwrap().to_str().unwrap());
    // Windows of decompressors, buffers of files, and what runs beside the reader.
    let fixed = if packs { 20 << 20 } else { 2 << 20 };
    fixed + size * if packs { 1032 * 9 } else { 200 }
}

/// Reads a file; gives what came of it (an outer error is a panic), the most memory held, and the
/// seconds it took.
fn attempt(
    path: &Path,
    options: &ReadOptions,
) -> (std::thread::Result<strt_io::Result<()>>, usize, f64) {
    let (before, start) = (HELD.load(Relaxed), Instant::now());
    PEAK.store(before, Relaxed);
    let outcome = std::panic::catch_unwind(|| {
        let _ = inspect(path, options);
        read_recording(path, options).map(drop)
    });
    (
        outcome,
        PEAK.load(Relaxed) - before,
        start.elapsed().as_secs_f64(),
    )
}

/// A header that claims records of a gigabyte, none of which is in the file. Found in a million
/// cases, so it has a place of its own; not a test of its own, since memory is counted for all.
fn check_record_that_is_not_there(directory: &Path) {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let mut bytes = fs::read(fixtures.join("gdf_2.gdf")).unwrap();
    let n_signals = usize::from(bytes[252]);
    let samples_of_first = 256 + 216 * n_signals;
    bytes[236..244].copy_from_slice(&(-1i64).to_le_bytes());
    bytes[samples_of_first..samples_of_first + 4].copy_from_slice(&(1u32 << 29).to_le_bytes());
    let path = directory.join("record.gdf");
    fs::write(&path, &bytes).unwrap();
    let (outcome, peak, _) = attempt(&path, &ReadOptions::default());
    assert!(
        outcome.is_ok() && peak < limit(&path, bytes.len()),
        "{peak} bytes held"
    );
    fs::remove_file(&path).unwrap();
}

#[test]
fn damaged_files() {
    let setting = |name: &str, otherwise: u64| {
        std::env::var(name)
            .ok()
            .and_then(|text| text.parse().ok())
            .unwrap_or(otherwise)
    };
    let cases = setting("STRT_FUZZ_CASES", 6000);
    let mut random = Random(setting("STRT_FUZZ_SEED", 1));
    let only = std::env::var("STRT_FUZZ_ONLY").ok();
    let originals = originals();
    let is_wanted = |path: &Path| {
        let name = path.to_string_lossy();
        only.as_ref().is_none_or(|only| name.ends_with(only))
    };
    let mut endings: Vec<_> = originals
        .iter()
        .filter(|(path, _)| is_wanted(path))
        .map(|(path, _)| path.extension().unwrap().to_owned())
        .collect();
    endings.sort();
    endings.dedup();
    let directory = tempfile::tempdir().unwrap();
    // The companions of headers, whole: what a damaged header may point to.
    for entry in fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures")).unwrap()
    {
        let path = entry.unwrap().path();
        if COMPANIONS.contains(&path.extension().unwrap_or_default().to_str().unwrap()) {
            fs::copy(&path, directory.path().join(path.file_name().unwrap())).unwrap();
        }
    }
    let companions: usize = fs::read_dir(directory.path())
        .unwrap()
        .map(|entry| entry.unwrap().metadata().unwrap().len() as usize)
        .sum();
    check_record_that_is_not_there(directory.path());
    let (mut read, mut n_beside, mut worst) = (0u64, 0u64, (0.0, String::new()));
    let mut per_ending: BTreeMap<String, u64> = BTreeMap::new();
    for case in 0..cases {
        // Every format has the same chance, however many files it has.
        let ending = &endings[random.below(endings.len())];
        let files: Vec<_> = originals
            .iter()
            .filter(|(path, _)| path.extension() == Some(ending) && is_wanted(path))
            .collect();
        let (original, contents) = files[random.below(files.len())];
        let other = &originals[random.below(originals.len())].1;
        let path = directory.path().join(original.file_name().unwrap());
        // A quarter of the cases of a file that has companions damage one of these.
        let beside = companions_of(original);
        let beside = match beside.len() {
            0 => None,
            n => Some(&beside[random.below(n)]).filter(|_| random.below(4) == 0),
        };
        let mut bytes = match beside {
            Some(beside) => fs::read(beside).unwrap(),
            None => contents.clone(),
        };
        mutate(&mut random, &mut bytes, other);
        let damaged = match beside {
            Some(beside) => directory.path().join(beside.file_name().unwrap()),
            None => path.clone(),
        };
        fs::write(&path, contents).unwrap();
        fs::write(&damaged, &bytes).unwrap();
        let options = ReadOptions {
            variable: (random.below(8) == 0).then(|| "data".to_string()),
            transpose: [None, None, Some(true), Some(false)][random.below(4)],
            ..ReadOptions::default()
        };
        let (mut outcome, peak, mut seconds) = attempt(&path, &options);
        if seconds > 5.0 {
            // On a busy machine it may not have been the reader that took so long.
            (outcome, _, seconds) = attempt(&path, &options);
        }
        let limit = limit(&path, bytes.len() + companions);
        if outcome.is_err() || peak > limit || seconds > 5.0 {
            let kept = std::env::temp_dir().join(format!(
                "damaged_{case}_{}",
                damaged.file_name().unwrap().display()
            ));
            fs::write(&kept, &bytes).unwrap();
            panic!(
                "case {case}, {}: panicked: {}, {peak} bytes held (limit {limit}), {seconds:.1} s; \
                 kept as {}",
                original.display(),
                outcome.is_err(),
                kept.display()
            );
        }
        read += u64::from(matches!(outcome, Ok(Ok(()))));
        *per_ending
            .entry(original.extension().unwrap().display().to_string())
            .or_default() += 1;
        let share = peak as f64 / limit as f64;
        if share > worst.0 {
            worst = (share, original.display().to_string());
        }
        // What others need stays what they need it to be.
        if let Some(beside) = beside {
            fs::copy(beside, &damaged).unwrap();
            n_beside += 1;
        }
        if COMPANIONS.contains(&original.extension().unwrap().to_str().unwrap()) {
            fs::write(&path, contents).unwrap();
        } else {
            fs::remove_file(&path).unwrap();
        }
    }
    println!(
        "{cases} cases, {n_beside} of them of a file beside, {read} read; at most {:.0} % of the \
         memory allowed ({}); {per_ending:?}",
        100.0 * worst.0,
        worst.1
    );
}
