"""From a recording to a cleaned one as a person goes it: separate, look, click, clean, read back.

    python benchmarks/whole_way.py --strt target/release/strt --data ../shared/data \\
        [--only "foetal ECG"] [--no-verdicts]
    python benchmarks/whole_way.py --page page.html    # size and load time of any page

Three recordings: skin electrodes of a pregnant woman (DaISy) and EEG with blinks (EEGLAB) as EDF+
with events, and voices mixed into a WAV file. For each: `strt separate`; its page in headless
Chromium, where sources are rejected with the mouse and with the keyboard and decisions.json is
saved; `strt clean --decisions`; the cleaned file read by pyedflib or by Python's `wave`. Prints a
table of what was checked, sizes and load times, and ends with status 1 where a check fails.

Needs numpy, scipy, pyedflib and Chromium (`CHROMIUM`, or one of its usual names in the path).
"""

import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import wave

import numpy as np
import pyedflib
import scipy.io


class Browser:
    """A page in headless Chromium, by the DevTools protocol through its pipe."""

    def __init__(self, folder):
        names = [os.environ.get("CHROMIUM"), "chromium", "chromium-browser", "google-chrome"]
        program = next((p for p in (shutil.which(n) for n in names if n) if p), None)
        if program is None:
            sys.exit("no Chromium was found: install it, or name it in the variable CHROMIUM")
        self.folder, self.last, self.session = folder, 0, None
        read_commands, commands = os.pipe()
        answers, write_answers = os.pipe()
        options = [
            "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run",
            "--disable-background-networking", "--remote-debugging-pipe",
            f"--user-data-dir={folder / 'profile'}", "about:blank",
        ]  # fmt: skip
        self.process = subprocess.Popen(
            ["sh", "-c", f'exec "$@" 3<&{read_commands} 4>&{write_answers}', "sh", program]
            + options,
            pass_fds=(read_commands, write_answers),
            stderr=subprocess.DEVNULL,
        )
        os.close(read_commands), os.close(write_answers)
        self.commands, self.answers, self.rest = commands, answers, b""
        pages = self.send("Target.getTargets")["targetInfos"]
        page = next(target for target in pages if target["type"] == "page")
        target = {"targetId": page["targetId"], "flatten": True}
        self.session = self.send("Target.attachToTarget", target)["sessionId"]
        self.complaints = []
        for domain in ["Page", "Runtime", "Log"]:
            self.send(f"{domain}.enable")
        size = {"width": 1280, "height": 900, "deviceScaleFactor": 1, "mobile": False}
        self.send("Emulation.setDeviceMetricsOverride", size)
        downloads = {"behavior": "allow", "downloadPath": str(folder)}
        self.send("Page.setDownloadBehavior", downloads)

    def send(self, method, parameters=None):
        self.last += 1
        command = {"id": self.last, "method": method, "params": parameters or {}}
        if self.session:
            command["sessionId"] = self.session
        os.write(self.commands, json.dumps(command).encode() + b"\0")
        while True:
            while b"\0" not in self.rest:
                more = os.read(self.answers, 1 << 20)
                if not more:
                    sys.exit("the browser has ended")
                self.rest += more
            text, self.rest = self.rest.split(b"\0", 1)
            message = json.loads(text)
            if message.get("id") == self.last:
                if "error" in message:
                    sys.exit(f"{method}: {message['error']}")
                return message["result"]
            if message.get("method") in ("Runtime.exceptionThrown", "Log.entryAdded"):
                self.complaints.append(message["params"])

    def evaluate(self, expression):
        options = {"expression": expression, "awaitPromise": True, "returnByValue": True}
        answer = self.send("Runtime.evaluate", options)
        if "exceptionDetails" in answer:
            sys.exit(f"{expression}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def load(self, path):
        """Seconds until the page is there and its first frame is drawn."""
        began = time.perf_counter()
        self.send("Page.navigate", {"url": path.resolve().as_uri()})
        while self.evaluate("document.readyState") != "complete":
            time.sleep(0.01)
        self.frame()
        return time.perf_counter() - began

    def frame(self):
        """Waits until what has changed is drawn."""
        drawn = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
        self.evaluate(drawn)

    def click(self, selector):
        x, y = self.evaluate(
            f"(() => {{ const e = document.querySelector({json.dumps(selector)});"
            "e.scrollIntoView({block: 'center', behavior: 'instant'});"
            "const b = e.getBoundingClientRect();"
            "return [b.left + b.width / 2, b.top + b.height / 2]; })()"
        )
        for kind, buttons in [("mouseMoved", 0), ("mousePressed", 1), ("mouseReleased", 0)]:
            button = "none" if kind == "mouseMoved" else "left"
            event = {"type": kind, "x": x, "y": y, "button": button, "buttons": buttons}
            self.send("Input.dispatchMouseEvent", {**event, "clickCount": 1})

    def key(self, key):
        codes = {"ArrowRight": 39, "Tab": 9}
        event = {"key": key, "windowsVirtualKeyCode": codes.get(key, 0)}
        text = {"text": key} if len(key) == 1 else {}
        self.send("Input.dispatchKeyEvent", {"type": "keyDown", **event, **text})
        self.send("Input.dispatchKeyEvent", {"type": "keyUp", **event})

    def saved(self, name):
        """A file that the page saved, once it is there."""
        path = self.folder / name
        for _ in range(600):
            if path.exists() and path.stat().st_size:
                return json.loads(path.read_text())
            time.sleep(0.1)
        sys.exit(f"{name} was not saved")

    def close(self):
        self.process.kill()
        self.process.wait()
        # The shell that starts a browser knows descriptors of one digit only.
        os.close(self.commands), os.close(self.answers)


def write_edf(path, values, rate, names, events):
    """EDF+ of whole seconds, 16 bits, limits that fit each channel."""
    seconds = len(values) // rate
    values = values[: seconds * rate]
    with pyedflib.EdfWriter(str(path), values.shape[1], pyedflib.FILETYPE_EDFPLUS) as file:
        for i, name in enumerate(names):
            limit = float(f"{1.2 * np.abs(values[:, i]).max():.3g}")
            file.setSignalHeader(i, {
                "label": name, "dimension": "uV", "sample_frequency": rate,
                "physical_max": limit, "physical_min": -limit, "digital_max": 32767,
                "digital_min": -32768, "transducer": "", "prefilter": "",
            })  # fmt: skip
        file.writeSamples([np.ascontiguousarray(column) for column in values.T])
        for onset, name in events:
            if onset < seconds:
                file.writeAnnotation(onset, -1, name)


def foetal(data, path):
    values = np.loadtxt(data / "daisy_fecg/FOETAL_ECG.dat")[:, 1:]
    names = [f"abdomen {i}" for i in range(1, 6)] + [f"chest {i}" for i in range(1, 4)]
    write_edf(path, values, 250, names, [(1.0, "start"), (5.5, "Bewegung")])
    return ["--sources", "8"], lambda label: label.startswith("heart") and near(label, 81)


def near(label, per_minute):
    return abs(float(label.split()[1]) - per_minute) <= 5


def eeg(data, path):
    eeg = scipy.io.loadmat(data / "eeglab_eeg32/eeglab_data.set", squeeze_me=True)["EEG"]
    values = np.fromfile(data / "eeglab_eeg32/eeglab_data.fdt", "<f4").reshape(-1, 32)
    names = [str(place["labels"]) for place in eeg["chanlocs"].item()]
    events = [((e["latency"] - 1) / 128, str(e["type"])) for e in eeg["event"].item()]
    write_edf(path, values.astype(float), 128, names, events)
    return ["--sources", "32"], lambda label: label.startswith("eye blinks")


def voices(data, path):
    names = ["aew_a0001", "aew_a0002", "axb_a0004"]
    voices = []
    for name in names:
        with wave.open(str(data / f"cmu_arctic_speech/cmu_arctic_us_{name}.wav")) as file:
            voices.append(np.frombuffer(file.readframes(40_000), "<i2") / 32768)
    mixing = np.array([[1.0, 0.6, 0.4], [0.5, 1.0, 0.6], [0.3, 0.5, 1.0]])
    mixed = np.array(voices).T @ mixing.T
    mixed *= 0.5 / np.abs(mixed).max()
    with wave.open(str(path), "wb") as file:
        file.setparams((3, 2, 16000, 0, "NONE", ""))
        file.writeframes(np.round(mixed * 32767).astype("<i2").tobytes())
    return ["--sources", "3"], None


def read(path):
    """Stored numbers, physical units of one, and all that belongs to them."""
    if path.suffix == ".wav":
        with wave.open(str(path)) as file:
            stored = np.frombuffer(file.readframes(file.getnframes()), "<i2")
            return stored.reshape(-1, file.getnchannels()), None, file.getparams()[:3], 0
    with pyedflib.EdfReader(str(path)) as file:
        n = file.signals_in_file
        stored = np.array([file.readSignal(i, digital=True) for i in range(n)]).T
        physical = np.array([file.readSignal(i) for i in range(n)]).T
        events = file.readAnnotations()
        about = [file.getSignalLabels(), file.getSampleFrequencies().tolist()]
        about += [file.getPhysicalDimension(i) for i in range(n)]
        about += [part.tolist() for part in events]
        ranges = [file.getPhysicalMaximum(i) - file.getPhysicalMinimum(i) for i in range(n)]
        steps = [extent / 65535 for extent in ranges]
        return physical, np.array(steps), about, len(events[0])


def reject(tab, wanted):
    """Rejects sources that are labelled as wanted, or the first: by mouse and keyboard in turn."""
    labels = tab.evaluate(
        "[...document.querySelectorAll('.card')].map((card) =>"
        "card.querySelector('.label') ? card.querySelector('.label').textContent : '')"
    )
    chosen = [k for k, label in enumerate(labels) if wanted and label and wanted(label)] or [0]
    for turn, k in enumerate(chosen):
        if turn % 2 == 0:
            tab.click(f".card:nth-child({k + 1}) .toggle")
        else:
            tab.evaluate(f"document.querySelectorAll('.card')[{k}].focus()")
            tab.key("r")
    # One more by the keyboard alone, there and back: it stays as it was.
    tab.evaluate("document.querySelector('.save').focus()")
    tab.key("Tab")
    tab.key("ArrowRight")
    tab.key(" ")
    tab.key(" ")
    return chosen, [labels[k] or "no label" for k in chosen]


def whole_way(strt, data, prepare, ending, folder, more):
    """One recording from its file to its cleaned file: rows of the table, and sizes."""
    folder.mkdir()
    recording, run = folder / f"recording{ending}", folder / "run"
    arguments, wanted = prepare(data, recording)

    def program(*words):
        subprocess.run([str(strt), *map(str, words)], check=True, capture_output=True)

    program("separate", recording, *arguments, *more, "--preset", "fast", "--out", run, "--quiet")
    page = run / "report.html"
    tab = Browser(folder)
    seconds = tab.load(page)
    embedded = "JSON.parse(document.querySelector('#recording').textContent)"
    events = tab.evaluate(f"{embedded}.events.length")
    tab.click(".save")
    nothing = tab.saved("decisions.json")
    (folder / "decisions.json").rename(folder / "nothing.json")
    chosen, labels = reject(tab, wanted)
    tab.click(".save")
    decisions = tab.saved("decisions.json")
    complaints = tab.complaints
    tab.close()

    kept = [source["keep"] for source in decisions["sources"]]
    program("clean", run, "--decisions", folder / "nothing.json", "--out", folder / f"same{ending}")
    cleaned = folder / f"clean{ending}"
    program("clean", run, "--decisions", folder / "decisions.json", "--out", cleaned)
    before, steps, about, n_events = read(recording)
    after, _, about_after, _ = read(cleaned)
    sources = np.load(run / "sources.npy")
    mixer = json.loads((run / "mixer.json").read_text())
    removed = (sources - sources.mean(axis=0))[:, chosen] @ np.array(mixer["matrix"])[:, chosen].T
    if steps is None:
        steps, removed = np.ones(before.shape[1]), removed * 32768  # a WAV file is read as -1 to 1
    error = np.abs(after - (before - removed)) / steps
    share = removed.var(axis=0).sum() / before.var(axis=0).sum()
    rows = [
        ("rejected on the page", ", ".join(f"s{k + 1} ({t})" for k, t in zip(chosen, labels)),
         kept == [k not in chosen for k in range(len(kept))]),
        ("nothing rejected: the same file", "byte for byte",
         (folder / f"same{ending}").read_bytes() == recording.read_bytes()
         and all(source["keep"] for source in nothing["sources"])),
        ("cleaned less what the mixer says", f"at most {error.max():.2f} steps of the format",
         bool(error.max() <= 1.01)),
        ("names, rate, units, events kept", f"{n_events} events", about == about_after),
        ("events on the page", str(events), events == n_events),
        ("variance removed", f"{100 * share:.1f} %", 0 < share < 1),
        ("page complains", f"{len(complaints)} times", not complaints),
    ]  # fmt: skip
    return rows, (page.stat().st_size, seconds, before.shape, sources.shape[1])


def time_page(page):
    """Prints size, load time and time of one more frame, after a zoom, of a page."""
    with tempfile.TemporaryDirectory() as folder:
        tab = Browser(pathlib.Path(folder))
        seconds = tab.load(page)
        tab.click(".explorer .closer")
        began = time.perf_counter()
        tab.frame()
        frame = time.perf_counter() - began
        complaints = len(tab.complaints)
        tab.close()
    print("| page | size | first frame | frame after a zoom | complaints |\n|---|---|---|---|---|")
    size = page.stat().st_size / 1e6
    print(f"| {page.name} | {size:.1f} MB | {seconds:.2f} s | {frame:.2f} s | {complaints} |")
    sys.exit(bool(complaints))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--strt", type=pathlib.Path, default=pathlib.Path("target/release/strt"))
    parser.add_argument("--data", type=pathlib.Path, default=pathlib.Path("../shared/data"))
    parser.add_argument("--only", help="one recording, such as EEG")
    parser.add_argument("--no-verdicts", action="store_true", help="runs without verdicts")
    parser.add_argument("--page", type=pathlib.Path, help="only the load time of this page")
    given = parser.parse_args()
    if given.page:
        return time_page(given.page)
    more = ["--no-verdicts"] if given.no_verdicts else []
    cases = [("foetal ECG", foetal, ".edf"), ("EEG", eeg, ".edf"), ("voices", voices, ".wav")]
    cases = [case for case in cases if given.only in (None, case[0])]
    sizes, failed = [], False
    print("| recording | checked | found | right |\n|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for name, prepare, ending in cases:
            place = pathlib.Path(folder) / name.replace(" ", "-")
            rows, size = whole_way(given.strt, given.data, prepare, ending, place, more)
            sizes.append((name, *size))
            for checked, found, right in rows:
                failed |= not right
                print(f"| {name} | {checked} | {found} | {'yes' if right else 'NO'} |")
    print("\n| page | recording | sources | size | first frame |\n|---|---|---|---|---|")
    for name, size, seconds, (samples, channels), sources in sizes:
        shape = f"{samples} × {channels}"
        print(f"| {name} | {shape} | {sources} | {size / 1e6:.1f} MB | {seconds:.2f} s |")
    sys.exit(failed)


if __name__ == "__main__":
    main()
