"""How the command line ends: the exit status of every command, JSON whatever happens, outputs that cannot be written,
and words that are nearly right."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from engine.cli import COMMANDS, main
from engine.cli.window import qt_needed
from engine.errors import EngineError
from tests.engine import cli_driving as driving
from tests.engine.cli_driving import ROOT, info, save

SAMPLE = str(driving.SAMPLE)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to work in, with a model that has an error, one that is none, one that fails, and a wrong output."""
    monkeypatch.chdir(tmp_path)
    shapes = {"x": ["A"], "z": ["B"], "y": None}
    x, z, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in shapes.items())
    for file, node in (("wrong", helper.make_node("Relu", ["nowhere"], ["y"])),
                       ("fails", helper.make_node("Add", ["x", "z"], ["y"]))):  # fmt: skip
        graph = helper.make_graph([node], "g", [x, z], [y])
        onnx.save(helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 17)]), f"{file}.onnx")
    (tmp_path / "none.onnx").write_text("<html>")
    np.savez(tmp_path / "expected.npz", probabilities=np.full((1, 10), 7, np.float32))
    return tmp_path


ENDINGS = [
    (0, ["inspect", SAMPLE], None),
    (0, ["inspect", "wrong.onnx"], None),  # its findings are the concern of `check`
    (2, ["inspect", "none.onnx"], "ModelFormatError"),
    (2, ["inspect", "missing.onnx"], "ModelFormatError"),
    (2, ["inspect"], "UsageError"),
    (0, ["check", SAMPLE], None),
    (1, ["check", "wrong.onnx"], None),
    (2, ["check", "none.onnx"], "ModelFormatError"),
    (0, ["run", SAMPLE, "--providers", "CPU"], None),
    (1, ["run", "fails.onnx", "--dim", "A=2", "--dim", "B=3"], "NodeError"),
    (1, ["run", "wrong.onnx"], "CannotRunError"),
    (1, ["run", SAMPLE, "--outputs", "."], "ExportError"),
    (2, ["run", SAMPLE, "--outputs", "nowhere/o.npz"], "InputError"),
    (2, ["run", SAMPLE, "--inputs", "missing.npz"], "InputError"),
    (2, ["run", SAMPLE, "--repeat", "many"], "UsageError"),
    (0, ["compare", SAMPLE, "--repeat", "1"], None),
    (1, ["compare", SAMPLE, "--repeat", "1", "--against", "expected.npz"], None),
    (2, ["compare", SAMPLE, "--rtol", "some"], "InputError"),
    (2, ["compare", SAMPLE, "--save", "nowhere/o.npz"], "InputError"),
    (0, ["diff", SAMPLE, SAMPLE], None),
    (1, ["diff", SAMPLE, "fails.onnx"], None),
    (2, ["diff", SAMPLE, "none.onnx"], "ModelFormatError"),
    (0, ["export", SAMPLE, "out.onnx"], None),
    (1, ["export", SAMPLE, "nowhere/out.onnx"], "ExportError"),
    (2, ["export", SAMPLE, "out.onnx", "--nodes", "no_such"], "InputError"),
    (0, ["render", SAMPLE, "out.svg"], None),
    (2, ["render", SAMPLE, "out.gif"], "InputError"),
    (0, ["render", SAMPLE, "out.svg", "--dim", "N=4"], None),
    (2, ["render", SAMPLE, "out.svg", "--dim", "M=4"], "InputError"),
    (2, ["render", SAMPLE, "out.png", "--scale", "0"], "UsageError"),
    (0, ["--smoke", SAMPLE, "--view"], None),
    (2, ["--smoke", "missing.onnx"], "ModelFormatError"),
    (2, ["missing.onnx"], "UsageError"),
    (2, ["frobnicate"], "UsageError"),
]  # fmt: skip
"""Status, arguments, and the kind of the error with ``--json``."""


@pytest.mark.parametrize(("status", "arguments", "kind"), ENDINGS)
def test_status_and_json(
    folder: Path, status: int, arguments: list[str], kind: str | None, capfd: pytest.CaptureFixture[str]
) -> None:
    if arguments[0] in ("render", "--smoke"):  # Qt's application is one for the whole process
        command = [sys.executable, "-m", "engine", *arguments, "--json"]
        done = subprocess.run(command, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True)
        ended, out, err = done.returncode, done.stdout, done.stderr
    else:
        ended = main([*arguments, "--json"])
        out, err = capfd.readouterr()
    told = json.loads(out, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))
    assert ended == status, err
    assert told.get("error", {}).get("kind") == kind
    assert "fault of OInfer's own" not in err
    assert err.count("oinfer: ") == (kind is not None)


def test_the_table_has_every_command() -> None:
    assert {arguments[0] for _, arguments, _ in ENDINGS} >= set(COMMANDS)


# What is printed cannot be written


def shell(command: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """A line for bash, `oinfer` in it being this program; its status is that of the program, not of what reads it."""
    line = f"set -o pipefail; oinfer() {{ '{sys.executable}' -m engine \"$@\"; }}; {command}"
    return subprocess.run(["bash", "-c", line], cwd=ROOT, capture_output=True, text=True, env=os.environ | environment)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has /dev/full")
@pytest.mark.parametrize("buffered", ["", "1"], ids=["buffered", "unbuffered"])
@pytest.mark.parametrize("arguments", [f"inspect '{SAMPLE}'", f"inspect '{SAMPLE}' --json", "inspect none.onnx --json",
                                       "--help", "run --help"])  # fmt: skip
def test_a_full_disk_is_told(arguments: str, buffered: str) -> None:
    done = shell(f"oinfer {arguments} > /dev/full", PYTHONUNBUFFERED=buffered)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == "oinfer: the output cannot be written: No space left on device"
    assert "Traceback" not in done.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has /dev/full")
def test_nowhere_to_write_at_all() -> None:
    assert shell("oinfer inspect none.onnx --json > /dev/full 2> /dev/full").returncode == 1


@pytest.mark.skipif(os.name != "posix", reason="the pipes of POSIX")
@pytest.mark.parametrize("arguments", [f"inspect '{SAMPLE}'", "inspect none.onnx --json", "--help"])
def test_a_reader_that_has_left_is_no_fault(arguments: str) -> None:
    """The pipe has no reader from the start: it is made, and its reading end closed, before the program runs."""
    read, write = os.pipe()
    os.close(read)
    command = [sys.executable, "-m", "engine", *shlex.split(arguments)]
    done = subprocess.run(command, cwd=ROOT, stdout=write, stderr=subprocess.PIPE, text=True)
    os.close(write)
    assert done.returncode == 141
    assert "Traceback" not in done.stderr
    assert "Errno" not in done.stderr


# Words that are nearly right


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["inspct", SAMPLE], "'inspct' is neither a command nor a file; did you mean 'inspect'?"),
        (["frobnicate"], "'frobnicate' is neither a command nor a file; commands: inspect, check, run,"),
        (["frobnicate.onnx"], "frobnicate.onnx: there is no such file"),
        (["inspect", SAMPLE, "--shape"], "unrecognized arguments: --shape; did you mean '--shapes'?"),
        (["run", SAMPLE, "--provider=CPU"], "unrecognized arguments: --provider=CPU; did you mean '--providers'?"),
        (["--smok"], "unrecognized arguments: --smok; did you mean '--smoke'?"),
        (["run", SAMPLE, "--providers", "cpuu"], "there are CUDA, Accelerate, CPU, ORT; did you mean 'CPU'?"),
        (["run", SAMPLE, "--providers", ""], "no execution provider ''"),
        (["run", SAMPLE, "--providers", "CPU,"], "no execution provider ''"),
        (["run", SAMPLE, "--providers", "CPU,cpu"], "CPU is named twice"),
        (["compare", SAMPLE, "--second-opinion", ""], "no execution provider ''"),
        (["compare", SAMPLE, "--second-opinion", "CPU,ORT"], "no execution provider 'CPU,ORT'"),
        (["run", SAMPLE, "--dim", "n=1"], "no symbolic dim 'n'; they have N; did you mean 'N'?"),
        (["run", SAMPLE, "--dim", "N=1", "--dim", "N=2"], "'N' is given twice"),
        (["run", SAMPLE, "--dim", "N=1e9"], "a size is a whole number"),
        (["run", SAMPLE, "--dim", "=3"], "give NAME=VALUE"),
        (["run", SAMPLE, "--input", "imgae=ones"], "no input 'imgae'; its inputs are 'image'; did you mean 'image'?"),
        (["run", SAMPLE, "--place", "op:Cnv=CPU"], "no operator 'Cnv' to place; did you mean 'Conv'?"),
        (["export", SAMPLE, "o.onnx", "--to", "imag"], "`oinfer inspect` lists them; did you mean 'image'?"),
    ],
)
def test_the_nearest_word_is_named(
    arguments: list[str], says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 2
    assert says in capsys.readouterr().err


# A window that cannot open


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (ModuleNotFoundError("No module named 'PySide6'", name="PySide6.QtCore"), "package 'PySide6' is not"),
        (ModuleNotFoundError("No module named 'pyqtgraph'", name="pyqtgraph"), "package 'pyqtgraph' is not"),
        (ImportError("libEGL.so.1: cannot open", name="PySide6.QtGui"), "since Qt cannot load: libEGL.so.1"),
        (ImportError("libblas.so: cannot open", name="numpy._core"), "cannot open: libblas.so: cannot open"),
    ],
)
def test_what_the_window_lacks_is_named(error: ImportError, says: str) -> None:
    with pytest.raises(EngineError, match=says), qt_needed():
        raise error


@pytest.mark.parametrize(
    "error",
    [ImportError("cannot import name 'x' from 'gui.app'", name="gui.app"), ModuleNotFoundError("gui.y", name="gui.y")],
)
def test_a_fault_of_our_own_modules_is_not_laid_to_qt(error: ImportError) -> None:
    with pytest.raises(type(error), match="gui"), qt_needed():
        raise error


def test_a_reader_that_leaves_is_no_error() -> None:
    done = subprocess.run(
        f"'{sys.executable}' -m engine inspect '{SAMPLE}' --json | head -n 1", shell=True, cwd=ROOT,
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.stdout == "{\n"
    assert done.stderr == ""


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_ctrl_c_ends_quietly(tmp_path: Path) -> None:
    """A loop of many million trips is interrupted."""
    body = helper.make_graph(
        [helper.make_node("Identity", ["c"], ["c2"]), helper.make_node("Neg", ["v"], ["v2"])], "body",
        [info("i", [], TensorProto.INT64), info("c", [], TensorProto.BOOL), info("v", [1])],
        [info("c2", [], TensorProto.BOOL), info("v2", [1])],
    )  # fmt: skip
    path = save(tmp_path / "long.onnx", [helper.make_node("Loop", ["n", "", "x"], ["y"], body=body)],
                [info("n", [], TensorProto.INT64), info("x", [1])], [info("y", [1])])  # fmt: skip
    command = [sys.executable, "-X", "importtime", "-m", "engine", "run", str(path), "--input", "n=30000000"]
    heeded = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)  # in the background of a script it is ignored
    with subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True, preexec_fn=heeded) as process:
        assert process.stderr is not None
        try:
            for line in process.stderr:
                if "engine.cli.inputs" in line:  # loaded by the command itself: from here on Ctrl+C is its matter
                    break
            process.send_signal(signal.SIGINT)
            _, told = process.communicate()
        finally:
            process.kill()
    # Where it comes while a dataclass is being made, by exec() of a text, Python ends itself by the signal (3.11). To a
    # shell that is 130 too.
    assert process.returncode in (130, -signal.SIGINT), told
    assert "Traceback" not in told


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_a_closed_output_is_no_fault(options: list[str]) -> None:
    command = f'exec "{sys.executable}" -m engine inspect "{SAMPLE}" {" ".join(options)} >&-'
    done = subprocess.run(["sh", "-c", command], cwd=ROOT, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
