"""Large models: opened without reading their weights, and in little memory, even where protobuf gives up.

The files have holes for weights, so they cost no disk; what is counted is what the process touches.
"""
from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.bench.large_models import MIB, write_external, write_inline

ROOT = Path(__file__).resolve().parents[3]

OPEN = """
import json, re, sys
def count(file, name):
    return int(re.search(name + r":\\s+(\\d+)", open(f"/proc/self/{file}").read())[1])
def peak():
    return count("status", "VmHWM") / 1024
def read():
    return count("io", "rchar") / 2**20
import engine.cli.inspect
from engine.cli.output import print_json
from engine.opening import open_model
open_model("resources/models/sample_cnn.onnx")  # what is imported late belongs to the bare process
bare, start = peak(), read()
model = open_model(sys.argv[1])
report = json.dumps(engine.cli.inspect.as_json(model))
read_mib, opened = read() - start, peak()
weight = model.graph.tensors["w3"].data.array()
print(json.dumps({"read_mib": read_mib, "open_mib": opened - bare, "weight_mib": peak() - opened,
                  "nbytes": weight.nbytes, "sum": float(weight.reshape(-1)[-4:].sum()), "report": len(report),
                  "findings": [d.code for d in model.diagnostics]}))
"""


CASES = {
    "1.5 GiB in one file": (write_inline, 24, 4096, 4096),
    "2.3 GiB in one file, more than protobuf reads": (write_inline, 37, 4096, 4096),
    "3 GiB in a second file": (write_external, 48, 4096, 4096),
    "3 GiB in one file, of 12,000 weights": (write_inline, 12_000, 256, 256),
}


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="peak memory is read from /proc")
@pytest.mark.parametrize("case", CASES)
def test_opens_without_its_weights_and_reads_one_alone(case: str, tmp_path: Path) -> None:
    write, count, rows, columns = CASES[case]
    path = tmp_path / "large.onnx"
    write(path, count, rows, columns)
    done = subprocess.run([sys.executable, "-c", OPEN, str(path)], cwd=ROOT, capture_output=True, text=True, check=True)
    told = json.loads(done.stdout)
    size = rows * columns * 4
    assert told["findings"] == []
    assert told["nbytes"] == size
    assert told["sum"] == 4
    assert told["read_mib"] <= count * 8 / 1024  # a block around the name of each weight: 4 KiB
    assert told["open_mib"] <= 150
    assert told["weight_mib"] <= 1.5 * size / MIB + 8  # once, and not twice


@pytest.mark.slow
def test_a_file_that_protobuf_cannot_read_has_its_cut_named(tmp_path: Path) -> None:
    from engine import load
    from engine.errors import ModelFormatError

    path = tmp_path / "large.onnx"
    write_inline(path, 37, 4096, 4096)
    with open(path, "r+b") as file:
        file.truncate(2_300_000_000)
    with pytest.raises(ModelFormatError, match=r"graph\.initializer\[34\]\.raw_data"):
        load(path)
