//! A format that was left out of the build is refused with the name of its feature; one that is
//! built in is not. Also run without any feature.

use faer::Mat;
use std::path::Path;
use strt_io::{Error, ReadOptions, Result, Signals, inspect, write_signals};

fn check<T>(name: &str, feature: &str, is_built: bool, outcome: Result<T>) {
    let refused = match outcome {
        Err(error @ Error::NotBuilt { .. }) => error.to_string(),
        Err(error) => panic!("{name}: {error}"),
        Ok(_) => return assert!(is_built, "{name} was accepted without feature {feature}"),
    };
    assert!(!is_built, "{refused}");
    let expected = format!("build with feature `{feature}`, or use CSV or NPY");
    assert!(refused.contains(&expected), "{refused}");
}

#[test]
fn formats_that_are_not_built_in_are_refused() {
    let read = |name: &str, feature: &str, is_built: bool| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("tests/fixtures")
            .join(name);
        check(
            name,
            feature,
            is_built,
            inspect(path, &ReadOptions::default()),
        );
    };
    read("time.csv", "none", true);
    read("fortran.npy", "none", true);
    read("plain.npz", "npz", cfg!(feature = "npz"));
    read("plain.mat", "mat", cfg!(feature = "mat"));
    read("inside.set", "mat", cfg!(feature = "mat"));
    read("v73.mat", "hdf5", cfg!(feature = "hdf5"));
    read("probe.snirf", "hdf5", cfg!(feature = "hdf5"));
    read("vorbis.ogg", "ogg", cfg!(feature = "ogg"));
    read("pcm_16.flac", "none", true);
    read("w516.hea", "none", true);
    read("snappy.parquet", "parquet", cfg!(feature = "parquet"));
    read("streams.xdf", "xdf", cfg!(feature = "xdf"));
    read("mne_short_raw.fif", "none", true);

    let directory = tempfile::tempdir().unwrap();
    let (values, names) = (Mat::<f64>::zeros(4, 1), ["a".to_string()]);
    let signals = Signals {
        values: values.as_ref(),
        names: &names,
        rate: None,
    };
    let outcome = write_signals(directory.path().join("a.parquet"), &signals);
    check("a.parquet", "parquet", cfg!(feature = "parquet"), outcome);
}
