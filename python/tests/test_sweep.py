"""`strtransformer.sweep`: engines, resuming, dead workers, failures, folders that are in use."""

import contextlib
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
import warnings
from pathlib import Path

import joblib
import numpy as np
import pytest

import strtransformer
from strtransformer import SweepError, SweepWarning, sweep

#: Small enough to be over in a moment.
QUICK = {
    "n_components": 2,
    "max_iter": 20,
    "config": {
        "branches.patch_sizes": [4, 8],
        "branches.d_model": 8,
        "branches.n_heads": 2,
        "branches.n_layers": 1,
    },
}
#: Long enough for somebody to come in between.
SLOW = {
    **QUICK,
    "max_iter": 6000,
    "config": {**QUICK["config"], "optimizer.early_stopping.enabled": False},
}


def mixture(seed, n_samples=300):
    random = np.random.default_rng(seed)
    time_axis = np.arange(n_samples)
    sources = np.stack(
        [np.sin(time_axis / 5), np.cumsum(random.standard_normal(n_samples)) / 10], axis=1
    )
    return sources @ random.standard_normal((2, 4)) + 0.01 * random.standard_normal((n_samples, 4))


@pytest.fixture
def files(tmp_path):
    folder = tmp_path / "recordings"
    folder.mkdir()
    paths = []
    for name, seed in (("a", 1), ("b", 2)):
        paths.append(folder / f"{name}.npy")
        np.save(paths[-1], mixture(seed))
    return paths


def prints(folder):
    """What tells whether a folder was written again: inode and time of every file."""
    return {
        path.name: (path.stat().st_ino, path.stat().st_mtime_ns)
        for path in sorted(Path(folder).iterdir())
    }


def contents(folder):
    """The bytes of the results, without what tells of time and place."""
    return {
        name: (Path(folder) / name).read_bytes()
        for name in ("sources.npy", "model.safetensors", "history.csv")
    }


def assert_same_results(one, other):
    assert [task.name for task in one] == [task.name for task in other]
    for a, b in zip(one, other):
        assert a.ok and b.ok
        assert contents(a.folder) == contents(b.folder), a.name


def wait_for(condition, seconds=60.0):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = condition()
        if found:
            return found
        time.sleep(0.02)
    raise AssertionError("waited in vain")


# ---- what a sweep leaves


def test_one_folder_a_task_with_plain_names(files, tmp_path):
    result = sweep(
        files,
        tmp_path / "out",
        settings=QUICK,
        grid={"weights.smoothness": [0.0, 0.1]},
        seeds=[0, 3],
    )
    names = [task.name for task in result]
    assert names[:3] == [
        "a__weights.smoothness=0.0__seed=0",
        "a__weights.smoothness=0.0__seed=3",
        "a__weights.smoothness=0.1__seed=0",
    ]
    assert len(names) == 8 and len(result.ok) == 8 and not result.failed
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        f"{name}.strt" for name in names
    }
    task = result["b__weights.smoothness=0.1__seed=3"]
    assert task.status == "made" and task.summary["seed"] == 3 and task.summary["steps"] == 20
    assert "smoothness = 0.1" in (task.folder / "config.toml").read_text()
    assert task.summary["input"]["path"] == str(files[1])


def test_a_task_is_what_the_estimator_gives(files, tmp_path):
    result = sweep(files[0], tmp_path / "out", settings=QUICK, seeds=5)
    from strtransformer import StrTransformer

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = StrTransformer(**QUICK, random_state=5).fit(np.load(files[0]))
        loaded = result[0].load()
    assert np.array_equal(
        np.load(result[0].folder / "sources.npy"), fitted.model_.sources.astype(np.float32)
    )
    assert np.array_equal(loaded.components_, fitted.components_)


def test_a_table_of_the_results(files, tmp_path):
    pytest.importorskip("pandas")
    truth = np.random.default_rng(0).standard_normal((300, 2))
    frame = sweep(files, tmp_path / "out", settings=QUICK, seeds=[1, 2], reference=truth).to_frame()
    assert list(frame["seed"]) == [1, 2, 1, 2] and list(frame["recording"]) == ["a", "a", "b", "b"]
    assert (
        frame["mac"].between(0, 1).all()
        and frame["steps"].eq(20).all()
        and frame["error"].isna().all()
    )


def test_arrays_are_kept_so_that_the_program_can_resume(tmp_path):
    out = tmp_path / "out"
    arrays = {"left": mixture(1), "right": mixture(2)}
    result = sweep(arrays, out, settings=QUICK, reading={"rate": 250.0})
    assert np.array_equal(np.load(out / "inputs" / "left.npy"), arrays["left"])
    assert result[0].summary["input"]["sampling_rate"] == 250.0
    assert [
        task.status for task in sweep(arrays, out, settings=QUICK, reading={"rate": 250.0})
    ] == ["there", "there"]
    with pytest.raises(
        ValueError, match="left.npy: expected the array that is given now, found other values"
    ):
        sweep({"left": mixture(3)}, out, settings=QUICK)


# ---- engines


def test_every_engine_gives_the_same(files, tmp_path):
    serial = sweep(files, tmp_path / "serial", settings=QUICK, seeds=[0, 1], n_jobs=1)
    loky = sweep(files, tmp_path / "loky", settings=QUICK, seeds=[0, 1], backend="loky", n_jobs=2)
    assert_same_results(serial, loky)
    with joblib.parallel_config("threading", n_jobs=2):
        threads = sweep(files, tmp_path / "threads", settings=QUICK, seeds=[0, 1])
    assert_same_results(serial, threads)
    assert loky[0].summary["versions"]["threads"] == 1, "workers use one thread"


def test_ray(files, tmp_path):
    ray = pytest.importorskip("ray")
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    try:
        parallel = sweep(
            files, tmp_path / "ray", settings=QUICK, seeds=[0, 1], backend="ray", n_jobs=2
        )
    finally:
        ray.shutdown()
    assert_same_results(sweep(files, tmp_path / "serial", settings=QUICK, seeds=[0, 1]), parallel)


def test_dask_without_a_client(files, tmp_path):
    pytest.importorskip("distributed")
    with pytest.raises(ValueError, match="expected an active Dask client, found none"):
        sweep(files, tmp_path / "out", settings=QUICK, backend="dask")


def test_a_killed_dask_worker_costs_nothing(tmp_path, capsys):
    distributed = pytest.importorskip("distributed")
    recordings = {f"r{seed}": mixture(seed) for seed in range(3)}
    request = dict(settings=SLOW, seeds=[0, 1], autosave=0.2)
    undisturbed = sweep(recordings, tmp_path / "undisturbed", **request, n_jobs=2, backend="loky")
    out = tmp_path / "disturbed"
    cluster = distributed.LocalCluster(
        n_workers=3,
        threads_per_worker=1,
        processes=True,
        dashboard_address=None,
        local_directory=str(tmp_path),
    )
    with cluster, distributed.Client(cluster) as client:
        answer = {}
        workers = set(client.run(os.getpid).values())

        def run():
            answer["result"] = sweep(recordings, out, **request, backend="dask")

        thread = threading.Thread(target=run)
        thread.start()

        def ready():
            """Some tasks are finished, and a worker is busy with one that has a checkpoint: the
            worker, or None.
            """
            if len(list(out.glob("*.strt/summary.json"))) < 3:
                return None
            begun = [str(path.parent) for path in out.glob("*.partial/checkpoint.safetensors")]
            return next(
                (
                    pid
                    for pid in workers
                    if any(held in path for path in open_files(pid) for held in begun)
                ),
                None,
            )

        victim = wait_for(ready)
        before = {path: prints(path) for path in out.glob("*.strt")}
        os.kill(victim, signal.SIGKILL)
        thread.join(timeout=120)
        assert not thread.is_alive() and "result" in answer
        survivors = set(client.run(os.getpid).values())
    result = answer["result"]
    assert victim not in survivors
    assert len(result.ok) == 6, "nothing is lost"
    for folder, print_ in before.items():
        assert prints(folder) == print_, f"{folder.name} was written again"
    resumed = [task for task in result if task.status == "resumed"]
    assert [task.status for task in result].count("made") == 5 and len(resumed) == 1
    assert (
        0 < resumed[0].resumed_from < SLOW["max_iter"]
    ), "from its checkpoint, not from the beginning"
    assert_same_results(undisturbed, result)
    assert not list(out.glob("*.partial"))
    with capsys.disabled():
        print(
            f"\nDask worker killed with {len(before)} of 6 tasks finished: {resumed[0].name} went"
            f" on from step {resumed[0].resumed_from} of {SLOW['max_iter']}, the others ran once"
        )


def test_a_killed_loky_worker_costs_nothing(tmp_path):
    psutil = pytest.importorskip("psutil")
    request = dict(settings=SLOW, seeds=[0, 1, 2], autosave=0.2, backend="loky", n_jobs=2)
    out, answer = tmp_path / "out", {}
    thread = threading.Thread(
        target=lambda: answer.update(result=sweep({"r": mixture(0)}, out, **request))
    )
    thread.start()
    wait_for(lambda: len(list(out.glob("*.partial/checkpoint.safetensors"))) == 2)
    busy = [
        child for child in psutil.Process().children() if "LokyProcess" in " ".join(child.cmdline())
    ]
    holders = [child for child in busy if any(".partial" in path for path in open_files(child.pid))]
    holders[0].kill()
    thread.join(timeout=120)
    result = answer["result"]
    assert len(result.ok) == 3 and any(task.status == "resumed" for task in result)
    assert_same_results(sweep({"r": mixture(0)}, tmp_path / "again", **request), result)


def open_files(pid):
    paths = []
    for link in Path(f"/proc/{pid}/fd").iterdir():
        with contextlib.suppress(OSError):  # closed meanwhile
            paths.append(os.readlink(link))
    return paths


# ---- going on


def test_finished_tasks_are_not_run_again(files, tmp_path):
    out = tmp_path / "out"
    sweep(files, out, settings=QUICK)
    before = {path: prints(path) for path in out.iterdir()}
    again = sweep(files, out, settings=QUICK, seeds=[0, 1])
    assert [task.status for task in again] == ["there", "made", "there", "made"]
    assert all(prints(folder) == print_ for folder, print_ in before.items())
    assert again[0].summary["steps"] == 20


def test_failures_are_collected_and_only_they_are_run_again(files, tmp_path):
    out = tmp_path / "out"
    bad = files[0].with_name("bad.csv")
    bad.write_text("this is\nnot a recording\n")
    gone = files[0].with_name("gone.npy")
    with pytest.raises(SweepError) as caught:
        sweep([files[0], bad, gone, files[1]], out, settings=QUICK)
    result = caught.value.result
    assert [task.status for task in result] == ["made", "failed", "failed", "made"]
    assert "bad.csv" in result[1].error and "FileNotFoundError" in result[2].error
    message = str(caught.value)
    assert (
        "2 of 4 tasks failed" in message and "bad__seed=0" in message and "gone__seed=0" in message
    )
    assert len(pickle.loads(pickle.dumps(caught.value)).result) == 4
    np.savetxt(bad, mixture(7), delimiter=",")
    with pytest.warns(SweepWarning, match="1 of 4 tasks failed"):
        again = sweep([files[0], bad, gone, files[1]], out, settings=QUICK, on_error="warn")
    assert [task.status for task in again] == ["there", "made", "failed", "there"]


def test_another_request_for_the_same_folder_is_refused(files, tmp_path):
    out = tmp_path / "out"
    sweep(files, out, settings=QUICK)
    other = {**QUICK, "max_iter": 21}
    result = sweep(files, out, settings=other, on_error="ignore")
    assert all(
        "optimizer.steps is 20 there, 21 was asked for" in task.error for task in result.failed
    )
    before = prints(result[0].folder)
    np.save(files[1], mixture(9))
    result = sweep(files, out, settings=QUICK, on_error="ignore")
    assert [task.status for task in result] == ["there", "failed"]
    assert "holds other values" in result[1].error
    result = sweep(files, out, settings=QUICK, overwrite=True)
    assert [task.status for task in result] == ["there", "made"]
    assert prints(result[0].folder) == before


INTERRUPTED = """
import sys, numpy as np, strtransformer
request = {request!r}
try:
    strtransformer.sweep(**request)
except KeyboardInterrupt:
    sys.exit(77)
"""


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_ctrl_c_keeps_what_was_done(tmp_path, n_jobs):
    recording = tmp_path / "r.npy"
    np.save(recording, mixture(0))
    request = dict(
        recordings=str(recording),
        out=str(tmp_path / "out"),
        settings={**SLOW, "max_iter": 40_000},  # not over before it is interrupted
        seeds=[0, 1],
        autosave=0.2,
        n_jobs=n_jobs,
    )
    script = INTERRUPTED.format(request=request)
    process = subprocess.Popen(
        [sys.executable, "-c", script], start_new_session=True, stderr=subprocess.PIPE
    )
    wait_for(lambda: list((tmp_path / "out").glob("*.partial/checkpoint.safetensors")))
    os.killpg(process.pid, signal.SIGINT)
    assert process.wait(timeout=60) == 77, process.stderr.read().decode()
    process.stderr.close()
    result = sweep(**request)
    # Which of two workers was first to write a checkpoint is open.
    assert any(task.status == "resumed" and task.resumed_from > 0 for task in result)
    assert_same_results(sweep(**{**request, "out": tmp_path / "again"}), result)


def test_the_program_goes_on_with_a_task(tmp_path):
    recording = tmp_path / "r.npy"
    np.save(recording, mixture(0))
    request = dict(
        recordings=str(recording), out=str(tmp_path / "out"), settings=SLOW, autosave=0.2
    )
    process = subprocess.Popen([sys.executable, "-c", INTERRUPTED.format(request=request)])
    wait_for(lambda: list((tmp_path / "out").glob("*.partial/checkpoint.safetensors")))
    process.kill()
    process.wait()
    folder = tmp_path / "out" / "r__seed=0.strt"
    resumed = strt("resume", str(folder), "--threads", "1")
    assert "resumed after step" in resumed.stderr
    assert "a finished run of strt" in strt("info", str(folder)).stdout
    result = sweep(**request)
    assert result[0].status == "there"
    assert_same_results(sweep(**{**request, "out": tmp_path / "again"}), result)


def strt(*arguments):
    """The program, from the package."""
    command = [sys.executable, "-c", "from strtransformer.cli import main; main()", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done


def test_a_folder_in_use_is_waited_for(tmp_path):
    recording = tmp_path / "r.npy"
    np.save(recording, mixture(0))
    request = dict(
        recordings=str(recording), out=str(tmp_path / "out"), settings=SLOW, autosave=0.2
    )
    process = subprocess.Popen([sys.executable, "-c", INTERRUPTED.format(request=request)])
    wait_for(lambda: list((tmp_path / "out").glob("*.partial/.strt")))
    (busy,) = sweep(**request, wait=0.0, on_error="ignore")
    assert busy.status == "failed" and "another strt is writing there" in busy.error
    (waited,) = sweep(**request, wait=60.0)
    assert waited.status == "there", "it was not run twice"
    assert process.wait(timeout=60) == 0


# ---- refusals


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (dict(settings={}), "expected n_components"),
        (dict(settings={"n_components": 2, "nonsense": 1}), "got nonsense"),
        (dict(settings={"n_components": 2, "weights.smothness": 1}), "smothness"),
        (dict(settings={"n_components": 2, "mixer": "cubic"}), "mixer = 'cubic'"),
        (dict(seeds=[]), "seeds: expected whole numbers from 0"),
        (dict(seeds=[-1]), "seeds: expected whole numbers from 0"),
        (dict(seeds=[1, 1]), "more than once"),
        (dict(grid={"mixer": "affine"}), "expected a list of values for 'mixer'"),
        (dict(on_error="shrug"), "on_error"),
        (
            dict(settings={**QUICK, "random_state": 1}),
            "settings: expected no random_state.* give seeds=",
        ),
        (dict(grid={"random_state": [1, 2]}), "grid: expected no random_state.* give seeds="),
        (dict(grid={"mixer": []}), "at least one value for 'mixer'"),
        (dict(grid=[]), "grid: expected at least one"),
        (dict(grid=3), "grid = 3: expected a dict"),
        (dict(grid=[3]), "grid: expected a dict"),
        (dict(settings=3), "settings: expected a dict"),
        (dict(seeds=None), "seeds: expected whole numbers .* got None"),
        (dict(seeds=2**63), r"seeds: expected whole numbers from 0 and below 2\*\*63"),
        (dict(seeds=[True]), "seeds: expected whole numbers"),
        (dict(retries=-1), "retries = -1: expected a whole number of at least 0"),
        (dict(n_jobs=0), "n_jobs = 0: expected tasks at a time"),
        (dict(n_jobs=True), "n_jobs = True: expected tasks at a time"),
        (dict(autosave=-1), "autosave = -1: expected a finite number of at least 0"),
        (dict(autosave="often"), "autosave = 'often': expected a finite number"),
        (dict(wait=-0.5), "wait = -0.5: expected a number of at least 0"),
        (dict(threads=-1), "threads = -1: expected a whole number"),
        (dict(formats=["mp3"]), "formats: expected any of npy, csv, mat, parquet, wav, .* got mp3"),
        (dict(formats="mat"), "expected a list, such as"),
        (dict(reading={"rat": 1}), "reading: expected any of rate, channels, .* got rat"),
        (dict(reading={"rate": 1, "sampling_rate": 1}), "got both"),
        (dict(reading={"rate": "fast"}), "reading: rate = 'fast': expected a finite number"),
        (
            dict(settings={**QUICK, "max_iter": -1}),
            "max_iter = -1: expected a whole number of at least 0",
        ),
        (
            dict(settings={**QUICK, "n_components": 2.0}),
            "n_components = 2.0: expected a whole number",
        ),
        (
            dict(settings={**QUICK, "n_components": 0}),
            "n_components = 0: expected a whole number of at least 1",
        ),
        (
            dict(settings={**QUICK, "n_components": "all"}),
            "n_components = 'all': expected a whole number, 'auto' or 'mdl'",
        ),
        (dict(settings={**QUICK, "mixer": None}), "mixer = None: expected 'affine' or 'mlp'"),
        (dict(recordings=[]), "at least one"),
        (dict(recordings=["x/a.npy", "y/a.npy"]), "files of different names"),
        (dict(recordings={"a": np.zeros(3)}), "expected an array of numbers"),
        (dict(reference={"c": "truth.npy"}), "expected names of recordings"),
    ],
)
def test_refusals(files, tmp_path, arguments, message):
    with pytest.raises(ValueError, match=message):
        sweep(**{"recordings": files, "out": tmp_path / "out", "settings": QUICK, **arguments})


def test_arrays_need_names(tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(mixture(0), columns=list("abcd"))
    for given in ([mixture(0)], mixture(0), strtransformer.Recording(mixture(0)), frame, 3, None):
        with pytest.raises(TypeError, match="give arrays with names, as"):
            sweep(given, tmp_path, settings=QUICK)


def test_a_recording_or_a_frame_is_refused(tmp_path):
    recording = strtransformer.Recording(mixture(0), list("abcd"), 250.0)
    with pytest.raises(TypeError, match="got a Recording, .* give the file itself, or X.data"):
        sweep({"r": recording}, tmp_path / "out", settings=QUICK)
    pandas = pytest.importorskip("pandas")
    with pytest.raises(TypeError, match="give the file itself, or frame.to_numpy"):
        sweep({"r": pandas.DataFrame(mixture(0))}, tmp_path / "out", settings=QUICK)
    assert not (tmp_path / "out").exists()


def test_references_do_not_overwrite_recordings(tmp_path):
    arrays = {"a": mixture(1), "a.reference": mixture(2)}
    truth = np.random.default_rng(0).standard_normal((300, 2))
    out = tmp_path / "out"
    for _ in range(2):
        result = sweep(arrays, out, settings={**QUICK, "max_iter": 2}, reference={"a": truth})
    assert [task.status for task in result] == ["there", "there"]
    assert np.array_equal(np.load(out / "inputs" / "a.reference.npy"), arrays["a.reference"])
    assert np.array_equal(np.load(out / "references" / "a.npy"), truth)


def test_a_damaged_input_is_named(tmp_path):
    place = tmp_path / "out" / "inputs" / "x.npy"
    place.parent.mkdir(parents=True)
    np.save(place, mixture(0))
    place.write_bytes(place.read_bytes()[:200])
    request = dict(
        recordings={"x": mixture(0)}, out=tmp_path / "out", settings={**QUICK, "max_iter": 2}
    )
    with pytest.raises(ValueError, match=r"inputs.x\.npy: .* damaged file .* overwrite=True"):
        sweep(**request)
    assert sweep(**request, overwrite=True)[0].ok


def test_numpy_scalars_and_masked_arrays(tmp_path):
    array = np.ma.masked_array(mixture(0), mask=False)
    array[7, 1] = np.ma.masked
    result = sweep(
        {"r": array},
        tmp_path,
        settings={**QUICK, "max_iter": np.int64(2)},
        grid={"weights.smoothness": np.array([0.0, 0.5]), "n_components": [np.int32(2)]},
        seeds=np.arange(1),
        reading={"sampling_rate": np.float32(250.0)},
    )
    assert result[1].name == "r__weights.smoothness=0.5__n_components=2__seed=0"
    assert result[1].summary["input"]["sampling_rate"] == 250.0
    assert np.isnan(np.load(tmp_path / "inputs" / "r.npy")[7, 1])


THREADED = """
import os, sys
from strtransformer import sweep
from strtransformer._sweep import running
ended = []
ensure = running._ensure
def noted(order, stop):
    try:
        return ensure(order, stop)
    finally:
        ended.append(order["target"])
running._ensure = noted
try:
    sweep(**{request!r})
except KeyboardInterrupt:
    # Both tasks that ran have ended by now, and the third was not begun.
    os._exit(77 if len(ended) == 2 else 78)
"""


def test_ctrl_c_ends_the_tasks_of_threads(tmp_path):
    recording = tmp_path / "r.npy"
    np.save(recording, mixture(0))
    slow = {**SLOW, "max_iter": 200000}
    request = dict(
        recordings=str(recording),
        out=str(tmp_path / "out"),
        settings=slow,
        seeds=[0, 1, 2],
        autosave=0.2,
        n_jobs=2,
        backend="threading",
    )
    script = THREADED.format(request=request)
    process = subprocess.Popen([sys.executable, "-c", script], stderr=subprocess.PIPE)
    wait_for(lambda: len(list((tmp_path / "out").glob("*.partial/checkpoint.safetensors"))) == 2)
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=60) == 77, process.stderr.read().decode()
    process.stderr.close()
