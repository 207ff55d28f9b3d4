//! A page in headless Chromium, with a real mouse and a real keyboard: commands of the DevTools
//! protocol through its pipe.
//!
//! Needs Chromium (`CHROMIUM`, or one of its usual names in the path); without it the tests are
//! skipped, and counted as such.

use serde_json::{Value, json};
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;
use strt_testing::{Missing, skip};
use tempfile::TempDir;

/// Longer than a browser takes for anything, even on a busy machine: it hangs.
const HANGS: Duration = Duration::from_secs(120);

/// A browser that can be started.
pub struct Browser {
    program: String,
}

impl Browser {
    /// Chromium, where there is one; otherwise the calling test is skipped.
    #[track_caller]
    pub fn find() -> Option<Browser> {
        let names = [
            "chromium",
            "chromium-browser",
            "google-chrome",
            "/usr/bin/chromium",
        ]
        .map(String::from);
        let runs = |name: &String| {
            Command::new(name)
                .arg("--version")
                .output()
                .is_ok_and(|output| output.status.success())
        };
        let found = std::env::var("CHROMIUM")
            .into_iter()
            .chain(names)
            .find(runs);
        if found.is_none() {
            skip(Missing::Browser);
        }
        found.map(|program| Browser { program })
    }

    /// Opens a page from disk in a window of this width.
    pub fn open(&self, html: &str, width: usize) -> Tab {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("page.html"), html).unwrap();
        Tab::start(&self.program, folder, width)
    }

    /// Checks what every page must do: all charts are drawn, answer the pointer and follow the
    /// colour scheme, nothing is wider than the window, and nothing complains.
    pub fn check(&self, html: &str) {
        let expected = html.matches("class=\"chart\"").count();
        assert!(expected > 0, "a page without charts");
        let mut tab = self.open(html, 1280);
        tab.open_all_sections();
        assert_eq!(
            tab.evaluate("document.querySelectorAll('.chart[data-drawn]').length"),
            expected
        );
        assert_eq!(
            tab.evaluate(BLANK),
            json!([]),
            "canvases on which nothing is drawn"
        );
        tab.hover(".chart", 0.5, 0.4);
        assert_ne!(
            tab.evaluate("document.querySelectorAll('.chart .tip').length"),
            0
        );
        let colours = "[getComputedStyle(document.body).backgroundColor, \
             document.querySelector('.chart canvas').toDataURL()]";
        let light = tab.evaluate(colours);
        tab.set_dark(true);
        let dark = tab.evaluate(colours);
        assert_eq!(light[0], "rgb(255, 255, 255)");
        assert_ne!(light[0], dark[0], "the page is dark");
        assert!(light[1] != dark[1], "and so are its charts");
        tab.set_dark(false);
        for width in [390, 1280] {
            tab.resize(width);
            let root = "document.documentElement";
            let beyond = format!("{root}.scrollWidth - {root}.clientWidth");
            assert_eq!(tab.evaluate(&beyond), 0, "wider than {width}");
        }
        assert_eq!(tab.complaints(), [""; 0], "messages of the page");
    }
}

/// Names of canvases that can be seen and on which nothing is drawn.
const BLANK: &str = "[...document.querySelectorAll('canvas')].filter((c) => c.clientWidth > 0 && \
     !c.getContext('2d').getImageData(0, 0, c.width, c.height).data.some((v) => v > 0)) \
     .map((c) => c.parentElement.className)";

/// A page that is open.
pub struct Tab {
    process: Child,
    commands: File,
    answers: Receiver<Value>,
    session: Option<String>,
    last: u64,
    complaints: Vec<String>,
    folder: TempDir,
}

impl Tab {
    fn start(program: &str, folder: TempDir, width: usize) -> Tab {
        let pipe = |name: &str| {
            let path = folder.path().join(name);
            assert!(
                Command::new("mkfifo")
                    .arg(&path)
                    .status()
                    .unwrap()
                    .success()
            );
            path
        };
        let (to, from) = (pipe("to"), pipe("from"));
        let process = Command::new("sh")
            .args([
                "-c",
                "to=$1 from=$2; shift 2; exec \"$@\" 3<\"$to\" 4>\"$from\"",
                "sh",
            ])
            .args([&to, &from])
            .arg(program)
            .args([
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-background-networking",
                "--no-first-run",
                "--remote-debugging-pipe",
            ])
            .arg(format!(
                "--user-data-dir={}",
                folder.path().join("profile").display()
            ))
            .arg("about:blank")
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let commands = OpenOptions::new().write(true).open(to).unwrap();
        let answers = File::open(from).unwrap();
        let (sender, receiver) = channel();
        std::thread::spawn(move || {
            for message in BufReader::new(answers).split(0) {
                let Ok(message) = message else { return };
                if sender
                    .send(serde_json::from_slice(&message).unwrap())
                    .is_err()
                {
                    return;
                }
            }
        });
        let mut tab = Tab {
            process,
            commands,
            answers: receiver,
            session: None,
            last: 0,
            complaints: Vec::new(),
            folder,
        };
        tab.attach(width);
        tab
    }

    fn attach(&mut self, width: usize) {
        let targets = self.send("Target.getTargets", json!({}));
        let targets = targets["targetInfos"].as_array().unwrap();
        let page = targets
            .iter()
            .find(|target| target["type"] == "page")
            .unwrap();
        let options = json!({ "targetId": page["targetId"], "flatten": true });
        let session = self.send("Target.attachToTarget", options);
        self.session = Some(session["sessionId"].as_str().unwrap().into());
        for domain in ["Page", "Runtime", "Log"] {
            self.send(&format!("{domain}.enable"), json!({}));
        }
        self.resize(width);
        let downloads = json!({ "behavior": "allow", "downloadPath": self.folder.path() });
        self.send("Page.setDownloadBehavior", downloads);
        self.load();
    }

    /// Opens the page, or opens it again.
    pub fn load(&mut self) {
        let address = format!("file://{}", self.folder.path().join("page.html").display());
        self.send("Page.navigate", json!({ "url": address }));
        self.wait_for("document.readyState === 'complete'");
        self.evaluate("new Promise((done) => requestAnimationFrame(() => setTimeout(done, 100)))");
    }

    /// Sends a command and waits for its answer.
    fn send(&mut self, method: &str, parameters: Value) -> Value {
        self.last += 1;
        let mut command = json!({ "id": self.last, "method": method, "params": parameters });
        if let Some(session) = &self.session {
            command["sessionId"] = json!(session);
        }
        let mut bytes = command.to_string().into_bytes();
        bytes.push(0);
        self.commands.write_all(&bytes).unwrap();
        loop {
            let message = self
                .answers
                .recv_timeout(HANGS)
                .expect("the browser answers");
            if message["id"] == self.last {
                assert!(message["error"].is_null(), "{method}: {}", message["error"]);
                return message["result"].clone();
            }
            let method = message["method"].as_str().unwrap_or_default();
            if [
                "Runtime.exceptionThrown",
                "Runtime.consoleAPICalled",
                "Log.entryAdded",
            ]
            .contains(&method)
            {
                self.complaints.push(message["params"].to_string());
            }
        }
    }

    /// The value of an expression in the page; promises are waited for.
    pub fn evaluate(&mut self, expression: &str) -> Value {
        let options =
            json!({ "expression": expression, "awaitPromise": true, "returnByValue": true });
        let answer = self.send("Runtime.evaluate", options);
        let failed = &answer["exceptionDetails"];
        assert!(failed.is_null(), "{expression}: {failed}");
        answer["result"]["value"].clone()
    }

    /// Waits until an expression is true.
    pub fn wait_for(&mut self, expression: &str) {
        for _ in 0..1200 {
            if self.evaluate(expression) == json!(true) {
                return;
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        panic!("{expression} never became true");
    }

    /// All that the page complained about.
    pub fn complaints(&mut self) -> Vec<String> {
        // An answer comes after everything that was said before it.
        self.evaluate("0");
        self.complaints.clone()
    }

    /// Opens every folded part of the page.
    pub fn open_all_sections(&mut self) {
        self.evaluate(
            "document.querySelectorAll('details').forEach((fold) => { fold.open = true; })",
        );
        self.wait_for("document.querySelectorAll('.chart:not([data-drawn])').length === 0");
    }

    /// Changes the width of the window.
    pub fn resize(&mut self, width: usize) {
        let size =
            json!({ "width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false });
        self.send("Emulation.setDeviceMetricsOverride", size);
        self.settle();
    }

    /// Switches the colour scheme.
    pub fn set_dark(&mut self, dark: bool) {
        let scheme = if dark { "dark" } else { "light" };
        let features = json!([{ "name": "prefers-color-scheme", "value": scheme }]);
        self.send(
            "Emulation.setEmulatedMedia",
            json!({ "features": features }),
        );
        self.settle();
    }

    /// Waits until what was asked for is drawn.
    pub fn settle(&mut self) {
        self.evaluate(
            "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))",
        );
    }

    /// Presses and releases a key.
    pub fn key(&mut self, key: &str) {
        let code = match key {
            "ArrowLeft" => 37,
            "ArrowUp" => 38,
            "ArrowRight" => 39,
            "ArrowDown" => 40,
            "Tab" => 9,
            " " => 32,
            _ => 0,
        };
        let mut event = json!({ "type": "keyDown", "key": key, "windowsVirtualKeyCode": code });
        if key.chars().count() == 1 {
            event["text"] = json!(key);
        }
        self.send("Input.dispatchKeyEvent", event);
        let event = json!({ "type": "keyUp", "key": key, "windowsVirtualKeyCode": code });
        self.send("Input.dispatchKeyEvent", event);
        self.settle();
    }

    /// Where a share of the width and height of an element is in the window, scrolled to.
    fn place(&mut self, selector: &str, across: f64, down: f64) -> (f64, f64) {
        let found = self.evaluate(&format!(
            "(() => {{ const e = document.querySelector({selector:?}); \
             e.scrollIntoView({{ block: 'center', behavior: 'instant' }}); \
             const b = e.getBoundingClientRect(); \
             return [b.left + {across} * b.width, b.top + {down} * b.height]; }})()"
        ));
        (found[0].as_f64().unwrap(), found[1].as_f64().unwrap())
    }

    fn mouse(&mut self, kind: &str, (x, y): (f64, f64), buttons: u32) {
        let pressed = if kind == "mouseMoved" && buttons == 0 {
            "none"
        } else {
            "left"
        };
        let event = json!({
            "type": kind, "x": x, "y": y, "button": pressed, "buttons": buttons, "clickCount": 1,
        });
        self.send("Input.dispatchMouseEvent", event);
    }

    /// Moves the pointer there.
    pub fn hover(&mut self, selector: &str, across: f64, down: f64) {
        let place = self.place(selector, across, down);
        self.mouse("mouseMoved", place, 0);
        self.settle();
    }

    /// Clicks the middle of an element.
    pub fn click(&mut self, selector: &str) {
        let place = self.place(selector, 0.5, 0.5);
        for (kind, buttons) in [("mouseMoved", 0), ("mousePressed", 1), ("mouseReleased", 0)] {
            self.mouse(kind, place, buttons);
        }
        self.settle();
    }

    /// Drags from one share of the width of an element to another.
    pub fn drag(&mut self, selector: &str, from: f64, to: f64) {
        let (start, end) = (
            self.place(selector, from, 0.5),
            self.place(selector, to, 0.5),
        );
        self.mouse("mouseMoved", start, 0);
        self.mouse("mousePressed", start, 1);
        self.mouse("mouseMoved", end, 1);
        self.mouse("mouseReleased", end, 0);
        self.settle();
    }

    /// Turns the wheel with the control key held.
    pub fn wheel_zoom(&mut self, selector: &str, by: f64) {
        let (x, y) = self.place(selector, 0.5, 0.3);
        let event = json!({
            "type": "mouseWheel", "x": x, "y": y, "deltaX": 0, "deltaY": by, "modifiers": 2,
        });
        self.send("Input.dispatchMouseEvent", event);
        self.settle();
    }

    /// A file that the page saved, once it is there.
    pub fn saved(&mut self, name: &str) -> String {
        let path: PathBuf = self.folder.path().join(name);
        for _ in 0..600 {
            match std::fs::read_to_string(&path) {
                Ok(text) if !text.is_empty() => return text,
                _ => std::thread::sleep(Duration::from_millis(100)),
            }
        }
        panic!("{name} was not saved");
    }

    /// Gives a file to a file input.
    pub fn choose_file(&mut self, selector: &str, path: &Path) {
        let document = self.send("DOM.getDocument", json!({}));
        let query = json!({ "nodeId": document["root"]["nodeId"], "selector": selector });
        let input = self.send("DOM.querySelector", query);
        let files = json!({ "files": [path], "nodeId": input["nodeId"] });
        self.send("DOM.setFileInputFiles", files);
        self.settle();
    }
}

impl Drop for Tab {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
