//! Runs looked at: two of them compared by `strt evaluate`, and their pages opened in a browser.

mod common;

use common::{FAST, Place, Ran, refused, separated};

#[test]
fn two_runs_are_compared() {
    let place = separated();
    place.done(
        &[
            &["separate", "data/observations.csv", "-o", "again"][..],
            &FAST,
        ]
        .concat(),
    );
    let ran = place.done(&["evaluate", "observations.strt", "again"]);
    assert!(
        ran.stdout
            .contains("3 of 3 sources are the same in both runs"),
        "{}",
        ran.stdout
    );
    let arguments = [
        "separate",
        "data/observations.csv",
        "-k",
        "2",
        "--preset",
        "fast",
    ];
    place.done(&[&arguments[..], &["-o", "two", "-q"]].concat());
    let ran = place.done(&["evaluate", "observations.strt", "two", "--json"]);
    let json: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(json["sources"].as_array().unwrap().len(), 3);
    let left = |source: &&serde_json::Value| source["second"].is_null();
    assert_eq!(
        json["sources"]
            .as_array()
            .unwrap()
            .iter()
            .filter(left)
            .count(),
        1
    );
    assert_eq!(json["correlations"][0].as_array().unwrap().len(), 2);
    let ran = place.done(&["evaluate", "two", "observations.strt"]);
    assert_eq!(ran.stdout.matches("left over").count(), 1, "{}", ran.stdout);

    place.done(
        &[
            &[
                "separate",
                "data/observations.csv",
                "--rate",
                "1",
                "--stop",
                "200",
                "-o",
                "short",
            ][..],
            &FAST,
        ]
        .concat(),
    );
    refused(
        &place,
        &["evaluate", "short", "again"],
        1,
        "short: expected 300 samples, as again has, found 200; only runs on the same recording",
    );
    refused(
        &place,
        &["evaluate", "again", "data"],
        1,
        "no such file in it",
    );
    refused(
        &place,
        &["evaluate", "again", "two", "--start", "1"],
        2,
        "expected no such arguments",
    );
}

/// A launcher of our own that notes what it is given.
#[cfg(unix)]
fn with_browser(place: &Place, arguments: &[&str], works: bool) -> Ran {
    use std::os::unix::fs::PermissionsExt;
    std::fs::create_dir_all(place.path("bin")).unwrap();
    let script = if works {
        format!(
            "#!/bin/sh\necho \"$1\" > {}\n",
            place.path("opened").display()
        )
    } else {
        "#!/bin/sh\nexit 3\n".into()
    };
    for name in ["xdg-open", "open"] {
        place.write(&format!("bin/{name}"), &script);
        let all = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(place.path(&format!("bin/{name}")), all).unwrap();
    }
    let mut command = place.command(arguments);
    command.env("DISPLAY", ":0").env("PATH", place.path("bin"));
    Ran::new(command.output().unwrap())
}

#[cfg(target_os = "linux")]
#[test]
fn the_page_is_opened_or_its_path_is_told() {
    let place = separated();
    let page = "observations.strt/report.html\n";
    let ran = with_browser(&place, &["open", "observations.strt"], true);
    assert_eq!(
        (ran.status, ran.stdout.as_str()),
        (0, page),
        "{}",
        ran.stderr
    );
    assert_eq!(place.text("opened"), page);
    let ran = with_browser(&place, &["open", "observations.strt"], false);
    assert_eq!((ran.status, ran.stdout.as_str()), (1, page));
    assert!(
        ran.stderr.contains("cannot show it in a browser"),
        "{}",
        ran.stderr
    );

    let headless = |arguments: &[&str]| {
        let mut command = place.command(arguments);
        for name in ["DISPLAY", "WAYLAND_DISPLAY", "BROWSER", "WSL_DISTRO_NAME"] {
            command.env_remove(name);
        }
        Ran::new(command.output().unwrap())
    };
    let ran = headless(&["open", "observations.strt"]);
    assert_eq!((ran.status, ran.stdout.as_str()), (1, page));
    assert!(
        ran.stderr
            .contains("there is no display here; open this file"),
        "{}",
        ran.stderr
    );
    refused(&place, &["open", "data"], 1, "no such file in it");

    // A run is done whether or not somebody can look at it.
    let separate = [
        &["separate", "data/observations.csv", "--open", "-o", "new"][..],
        &FAST,
    ]
    .concat();
    let ran = headless(&separate);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    assert!(
        ran.stderr.contains("new/report.html: cannot show it"),
        "{}",
        ran.stderr
    );
    let again = [&separate[..], &["--continue"]].concat();
    assert_eq!(with_browser(&place, &again, true).status, 0);
    assert_eq!(place.text("opened"), "new/report.html\n");
}
