//! Files that are damaged, foreign or newer give errors that say so, never a panic.

mod common;

use common::*;
use safetensors::Dtype;
use std::fs;
use std::path::PathBuf;
use strt_io::{load_checkpoint, load_model, save_checkpoint, save_model};
use strtransformer::train::Start;
use strtransformer::{Config, Trainer};
use tempfile::TempDir;

/// A good model and a good checkpoint, and a place for bad ones.
struct Files {
    _directory: TempDir,
    path: PathBuf,
    model: Vec<u8>,
    checkpoint: Vec<u8>,
}

fn files() -> Files {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("file.safetensors");
    let (recording, config) = (recording(1, &[]), small(Config::nonlinear(SOURCES)));
    save_model(&train(&recording, &config, Start::default()), &path).unwrap();
    let model = fs::read(&path).unwrap();
    save_checkpoint(
        &Trainer::new(&recording, &config).unwrap().checkpoint(),
        &path,
    )
    .unwrap();
    let checkpoint = fs::read(&path).unwrap();
    Files {
        _directory: directory,
        path,
        model,
        checkpoint,
    }
}

impl Files {
    /// Loading this as a model is refused with these words, and as a checkpoint too.
    fn model_refused(&self, bytes: &[u8], words: &[&str]) {
        fs::write(&self.path, bytes).unwrap();
        refused(
            load_model(&self.path),
            &[words, &["file.safetensors"]].concat(),
        );
        assert!(load_checkpoint(&self.path).is_err());
    }

    fn checkpoint_refused(&self, bytes: &[u8], words: &[&str]) {
        fs::write(&self.path, bytes).unwrap();
        refused(
            load_checkpoint(&self.path),
            &[words, &["file.safetensors"]].concat(),
        );
        assert!(load_model(&self.path).is_err());
    }

    /// Refuses a model that was taken apart, changed and put together.
    fn changed_model_refused(&self, change: impl FnOnce(&mut Taken), words: &[&str]) {
        let mut taken = Taken::apart(&self.model);
        // What is wrong with the contents is told before what the checksum says, but some of it is
        // found after that was looked at.
        taken.metadata.remove("checksum");
        change(&mut taken);
        self.model_refused(&taken.together(), words);
    }
}

#[test]
fn cut_short_or_too_long() {
    let files = files();
    let header = 8 + u64::from_le_bytes(files.model[..8].try_into().unwrap()) as usize;
    let whole = files.model.len();
    for length in [
        0,
        1,
        7,
        8,
        9,
        100,
        header - 1,
        header,
        header + 1,
        whole / 2,
        whole - 8,
        whole - 1,
    ] {
        files.model_refused(&files.model[..length], &["damaged", "cut short"]);
    }
    files.model_refused(&[&files.model[..], &[0]].concat(), &["damaged"]);
    let whole = files.checkpoint.len();
    for length in [0, 8, whole / 3, whole - 1] {
        files.checkpoint_refused(&files.checkpoint[..length], &["damaged"]);
    }
}

#[test]
fn any_number_changed() {
    // One that is as good as the one before: only the checksum knows.
    let files = files();
    for good in [&files.model, &files.checkpoint] {
        let header = 8 + u64::from_le_bytes(good[..8].try_into().unwrap()) as usize;
        let mut bytes = good.clone();
        for at in (header..good.len()).step_by(good.len() / 50) {
            bytes[at] ^= 1;
            fs::write(&files.path, &bytes).unwrap();
            let (model, checkpoint) = (load_model(&files.path), load_checkpoint(&files.path));
            assert!(model.is_err() && checkpoint.is_err(), "byte {at}");
            bytes[at] ^= 1;
        }
    }
}

#[test]
fn any_byte_of_the_header_changed() {
    // Whatever happens, it is no panic, and it is noticed.
    let files = files();
    for (good, step) in [(&files.model, 61), (&files.checkpoint, 307)] {
        let header = 8 + u64::from_le_bytes(good[..8].try_into().unwrap()) as usize;
        let mut bytes = good.clone();
        for at in (0..8).chain((8..header).step_by(step)) {
            for flip in [0x01, 0x80] {
                bytes[at] ^= flip;
                fs::write(&files.path, &bytes).unwrap();
                assert!(
                    load_model(&files.path).is_err() && load_checkpoint(&files.path).is_err(),
                    "byte {at}, {flip:#04x}"
                );
                bytes[at] ^= flip;
            }
        }
    }
}

#[test]
fn foreign_files() {
    let files = files();
    files.model_refused(
        b"time,ch1,ch2\n0,1,2\n1,2,3\n",
        &["safetensors", "another kind"],
    );
    fs::write(&files.path, &files.checkpoint).unwrap();
    refused(
        load_model(&files.path),
        &[
            "`strtransformer-model`",
            "`strtransformer-checkpoint`",
            "load_checkpoint",
        ],
    );
    fs::write(&files.path, &files.model).unwrap();
    refused(
        load_checkpoint(&files.path),
        &["`strtransformer-checkpoint`", "load_model"],
    );
    files.changed_model_refused(
        |taken| taken.metadata.clear(),
        &["names no format", "another program"],
    );
    files.changed_model_refused(
        |taken| drop(taken.metadata.insert("format".into(), "pt".into())),
        &["`pt`", "another program"],
    );
    let directory = files.path.parent().unwrap();
    refused(load_model(directory), &["found a directory"]);
    refused(load_checkpoint(directory), &["found a directory"]);
    refused(
        load_model(directory.join("absent")),
        &["absent", "cannot read"],
    );
}

#[test]
fn other_versions() {
    let files = files();
    let version = |version: &'static str| {
        move |taken: &mut Taken| drop(taken.metadata.insert("version".into(), version.into()))
    };
    files.changed_model_refused(version("3"), &["version 2", "found 3", "update"]);
    files.changed_model_refused(
        version("1"),
        &["version 2", "found 1", "separate the recording"],
    );
    files.changed_model_refused(version("new"), &["metadata `version`", "`new`"]);
    files.changed_model_refused(
        |taken| drop(taken.metadata.remove("version")),
        &["metadata `version`", "none"],
    );
    let mut taken = Taken::apart(&files.checkpoint);
    version("7")(&mut taken);
    files.checkpoint_refused(&taken.together(), &["version 2", "found 7", "update"]);
}

#[test]
fn tensors_that_do_not_fit() {
    let files = files();
    let refused =
        |change: fn(&mut Taken), words: &[&str]| files.changed_model_refused(change, words);
    refused(
        |taken| drop(taken.tensors.remove("sources")),
        &["`sources`", "[120, 2]", "no such tensor"],
    );
    refused(
        |taken| drop(taken.tensors.remove("mixer.parameters")),
        &["`mixer.parameters`", "no such tensor"],
    );
    refused(
        |taken| drop(taken.tensors.remove("energy.network.2")),
        &["`energy.network.2`", "no such tensor"],
    );
    refused(
        |taken| taken.tensors.get_mut("unmixing").unwrap().0.shape = vec![SOURCES, CHANNELS + 1],
        &["`unmixing`", "[5, 2]", "[2, 5]"],
    );
    refused(
        |taken| {
            taken
                .tensors
                .get_mut("mixer.parameters")
                .unwrap()
                .0
                .shape
                .insert(0, 1)
        },
        &["`mixer.parameters`", "one dimension"],
    );
    refused(
        |taken| {
            let (info, bytes) = taken.tensors.get_mut("mixer.parameters").unwrap();
            info.shape[0] -= 1;
            bytes.truncate(bytes.len() - 8);
        },
        &["`mixer.parameters`", "Mlp"],
    );
    refused(
        |taken| {
            let (info, _) = taken.tensors.get_mut("scaling.scale").unwrap();
            info.dtype = Dtype::I64;
        },
        &["`scaling.scale`", "F64", "I64"],
    );
    refused(
        |taken| {
            let copy = taken.tensors["energy"].clone();
            taken.tensors.insert("energy2".into(), copy);
        },
        &["`energy2`", "does not belong"],
    );
}

#[test]
fn numbers_that_are_not_allowed() {
    let files = files();
    let put = |name: &'static str, at: usize, value: f64| {
        move |taken: &mut Taken| {
            let bytes = &mut taken.tensors.get_mut(name).unwrap().1;
            bytes[8 * at..8 * at + 8].copy_from_slice(&value.to_le_bytes());
        }
    };
    for name in [
        "mixer.parameters",
        "controller.raw_gaps",
        "unmixing",
        "energy.network.1",
        "gauge.mean",
    ] {
        files.changed_model_refused(
            put(name, 2 % SOURCES, f64::NAN),
            &[name, "element 0", "NaN", "another copy"],
        );
    }
    files.changed_model_refused(
        put("sources", 3, f64::INFINITY),
        &["`sources`", "element 3", "inf"],
    );
    files.changed_model_refused(put("scaling.scale", 0, 0.0), &["scale", "above 0"]);
    files.changed_model_refused(put("whitening.eigenvalues", 1, -1.0), &["eigenvalue"]);
    // NaN in the sources is a missing sample; a file of before there were checksums has none.
    let mut taken = Taken::apart(&files.model);
    put("sources", 3, f64::NAN)(&mut taken);
    files.model_refused(&taken.together(), &["checksum", "bytes have changed"]);
    taken.metadata.remove("checksum");
    fs::write(&files.path, taken.together()).unwrap();
    assert!(load_model(&files.path).unwrap().sources()[(1, 1)].is_nan());
}

#[test]
fn metadata_that_does_not_fit() {
    let files = files();
    let edit = |key: &'static str, from: &'static str, to: &'static str| {
        move |taken: &mut Taken| {
            let text = taken.metadata.get_mut(key).unwrap();
            assert!(text.contains(from), "{text}");
            *text = text.replace(from, to);
        }
    };
    let refused =
        |(key, from, to), words: &[&str]| files.changed_model_refused(edit(key, from, to), words);
    files.changed_model_refused(
        |taken| drop(taken.metadata.remove("state")),
        &["metadata `state`", "none"],
    );
    files.changed_model_refused(
        |taken| drop(taken.metadata.remove("config")),
        &["metadata `config`", "none"],
    );
    refused(
        ("config", "d_model", "d_modal"),
        &["metadata `config`, line", "d_modal"],
    );
    refused(
        ("config", "d_model = 8", "d_model = 7"),
        &["branches.d_model"],
    );
    refused(
        ("config", "d_model = 8", "d_model = 4"),
        &["energy.network.0"],
    );
    refused(
        ("config", "d_model = 8", "d_model = 4611686018427387904"),
        &["branches.d_model", "at most"],
    );
    refused(
        ("config", "n_layers = 1", "n_layers = 4611686018427387904"),
        &["energy.*", "cannot hold"],
    );
    refused(
        ("config", "n_layers = 1", "n_layers = 2"),
        &["energy.network.0"],
    );
    refused(
        ("config", "ffn_ratio = 2", "ffn_ratio = 4611686018427387904"),
        &["energy.*", "cannot hold"],
    );
    refused(
        (
            "config",
            "patch_sizes = [4, 8]",
            "patch_sizes = [4, 4611686018427387904]",
        ),
        &["cannot hold"],
    );
    refused(
        ("config", "patch_sizes = [4, 8]", "patch_sizes = []"),
        &["branches.patch_sizes"],
    );
    refused(
        (
            "config",
            "hidden = [5, 3]",
            "hidden = [5, 4611686018427387904]",
        ),
        &["mixer.hidden", "4096"],
    );
    refused(
        ("config", "hidden = [5, 3]", "hidden = [3, 5]"),
        &["mixer.parameters", "Mlp"],
    );
    refused(
        (
            "config",
            "n_sources = 2",
            "n_sources = 18446744073709551615",
        ),
        &["n_sources"],
    );
    refused(
        ("config", "n_sources = 2", "n_sources = 3"),
        &["`sources`", "[120, 3]", "[120, 2]"],
    );
    refused(
        ("state", "\"samples\":120", "\"samples\":0"),
        &["0 samples"],
    );
    refused(
        ("state", "\"samples\":120", "\"samples\":-1"),
        &["metadata `state`"],
    );
    refused(
        ("state", "step_limit", "boredom"),
        &["metadata `state`", "boredom"],
    );
    refused(("state", "250.1", "-1"), &["sampling_rate", "above 0"]);
    refused(
        ("state", "\"steps\"", "\"stops\""),
        &["metadata `state`", "stops"],
    );
}
