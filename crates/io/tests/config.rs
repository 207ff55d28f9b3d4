//! Configurations through TOML.

mod common;

use common::refused;
use std::fs;
use strt_io::{config_to_toml, load_config, save_config};
use strtransformer::Config;
use strtransformer::config::{AssignmentRule, ScheduleKind};

#[test]
fn every_preset_comes_back_as_it_was() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("config.toml");
    let mut strange = Config::paper(2);
    strange.seed = u64::MAX;
    strange.weights.observation_variance = Some(f64::INFINITY);
    strange.weights.kappa = Some(0.1 + 0.2);
    strange.sources.epsilon = 5e-324;
    strange.optimizer.schedule.kind = ScheduleKind::Constant;
    strange.assignment.rule = AssignmentRule::MinimalCost;
    strange.assignment.at = vec![33];
    for config in [
        Config::new(3),
        Config::nonlinear(4),
        Config::paper(1),
        strange,
    ] {
        save_config(&config, &path).unwrap();
        assert_eq!(load_config(&path).unwrap(), config);
        assert_eq!(fs::read_to_string(&path).unwrap(), config_to_toml(&config));
    }
}

#[test]
fn what_is_absent_has_its_default_and_the_number_of_sources_may_come_later() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("config.toml");
    fs::write(&path, "\n").unwrap();
    assert_eq!(load_config(&path).unwrap(), Config::default());
    fs::write(&path, "# a comment\r\n[weights]\r\ngap = 5\r\n").unwrap();
    let mut expected = Config::default();
    expected.weights.gap = 5.0;
    assert_eq!(load_config(&path).unwrap(), expected);
}

#[test]
fn faults_are_named_with_file_and_place() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("config.toml");
    let check = |text: &[u8], words: &[&str]| {
        fs::write(&path, text).unwrap();
        refused(load_config(&path), &[words, &["config.toml"]].concat());
    };
    check(
        b"n_sources = 3\n\n[branches]\n  d_modal = 8\n",
        &["line 4, column 3", "d_modal", "d_model"],
    );
    check(b"n_source = 3\n", &["line 1, column 1", "n_source"]);
    check(b"[brunches]\n", &["line 1", "brunches"]);
    check(b"n_sources = \"three\"\n", &["line 1, column 13", "three"]);
    check(b"n_sources = -3\n", &["line 1, column 13"]);
    check(b"n_sources = 3\nn_sources = 4\n", &["line 2", "duplicate"]);
    check(b"engine = \"abacus\"\n", &["line 1", "abacus", "reference"]);
    check(
        b"[optimizer.schedule]\nkind = \"cosine\"\nwarmup = 5\nfloor = 0.1\nheight = 2\n",
        &["height"],
    );
    check(b"n_sources = \n", &["line 1"]);
    check(b"n_sources = 3 # \xff\n", &["byte 16", "UTF-8"]);
    check(b"n_sources = 0\n", &["n_sources", "at least 1"]);
    check(
        b"[branches]\nmask_ratio = 1.5\n",
        &["branches.mask_ratio", "1.5"],
    );
    check(b"[weights]\ngap = nan\n", &["weights.gap", "nan"]);
    refused(load_config(directory.path()), &["found a directory"]);
    refused(
        load_config(directory.path().join("absent.toml")),
        &["absent.toml", "cannot read"],
    );
}
