"""How much shape inference knows, how fast, and whether it is true, beside other tools.

    .venv/bin/python tests/bench/shapes.py [--peers PYTHON] [--write] [NAME ...]

Everything the file declares of values inside the graph is dropped first. "known" is the share of all node outputs,
subgraphs included, whose every dim is a number or an expression over input symbols and named lengths of the run.
"wrong" counts values, subgraphs included, whose shape in a run of OInfer is not what was inferred, over three sizes of
every dim. Peers are measured by ../shared/bench/shape_bench.py in a process each, under a Python that has onnx,
onnxruntime, sympy and onnx-shape-inference; they are held to ONNX Runtime at one size, main graph only.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

import onnx.backend.test  # noqa: E402

from engine.shapes.facts import is_complete  # noqa: E402
from engine.shapes.infer import infer_shapes  # noqa: E402
from tests.bench.report import write_table  # noqa: E402
from tests.engine.shapes.corpus import (  # noqa: E402
    MODELS,
    SHARED,
    SKELETONS,
    inferred_alone,
    loaded_bare,
    made,
    three_bindings,
    wrong_at,
)

PEERS = {"onnx": "onnx", "ort_sympy": "ONNX Runtime's symbolic", "onnx_shape_inference": "onnx-shape-inference"}
BENCH = SHARED.parent / "bench" / "shape_bench.py"
LIGHT = Path(onnx.backend.test.__file__).parent / "data" / "light"
BESIDE_PEERS = [
    "light/light_densenet121", "light/light_inception_v2", "light/light_resnet50", "light/light_shufflenet",
    "gen/gpt2_kv_dyn", "skel/full_gpt2_small.skel", "gen/bert_ts", "gen/bert_dynamic_int8", "skel/full_bert_base.skel",
    "real/minilm_l6_int8", "gen/yolo_n_320_nms", "skel/full_yolov8n_640.skel", "gen/unet_ts", "gen/vit_ts",
    "gen/swin_part_ts", "gen/tagger_lstm_dyn", "real/ppocr_v4_det", "real/ppocr_v4_rec", "real/ppocr_v2_cls",
    "real/magika_v3_3", "real/silero_vad", "real/silero_vad_half", "real/silero_vad_op18_ifless",
]  # fmt: skip
"""Those of the table in ../shared/reference/engine.md that are here, and others of the same kinds."""


@dataclass(slots=True)
class Row:
    """What was measured of one model: values in all, known of them, wrong of those that ran, CPU milliseconds."""

    name: str
    values: int
    known: int
    wrong: int
    checked: int
    bindings: int
    ms: float
    reason: str = ""


def measure(name: str, path: Path, runnable: Path) -> Row:
    """Infer a model and run it, with weights, at three sizes of its dims."""
    model = loaded_bare(path)
    start = time.process_time()
    infer_shapes(model)
    ms = (time.process_time() - start) * 1e3
    values = made(model)
    open_ = [t for t in values if not is_complete(t.inferred_type)]
    reason = open_[0].unknown_because if open_ else ""
    row = Row(name, len(values), len(values) - len(open_), 0, 0, 0, ms, reason)
    if path.parent.name == "light":
        return row  # without weights
    model = inferred_alone(runnable)
    for sizes in three_bindings(name, model):
        wrong, checked = wrong_at(name, model, sizes)
        row.wrong, row.checked, row.bindings = row.wrong + len(wrong), row.checked + checked, row.bindings + 1
        for message in wrong[:3]:
            print("   wrong:", message)
    return row


def refilled(path: Path, folder: Path) -> Path:
    """A skeleton with its weights filled in."""
    out = folder / path.name.replace(".skel", "")
    name = path.name.removesuffix(".skel.onnx")
    subprocess.run([sys.executable, str(SHARED / "fill_weights.py"), name, str(out)], check=True)
    return out


def peer(python: str, tool: str, path: Path) -> str:
    """What a peer makes of a model, as one cell."""
    command = [python, str(BENCH), "one", tool, str(path)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    except subprocess.TimeoutExpired:
        return "over 300 s"
    try:
        found = json.loads(done.stdout.strip().splitlines()[-1])
    except (ValueError, IndexError):
        return "failed"
    if found.get("err"):
        return f"fails ({found['err'].partition(':')[0]})"
    wrong = f", **{found['wrong']} wrong**" if found["wrong"] else ""
    return f"{percent(found['full'], found['n'])}, {found['t'] * 1e3:,.0f} ms{wrong}"


def percent(part: int, whole: int) -> str:
    """A share that says 100 % only where it is all."""
    return "100 %" if part == whole else f"{min(100 * part / max(whole, 1), 99.9):.1f} %"


def path_of(name: str) -> Path:
    """The file of a model of the table."""
    return LIGHT / f"{name.removeprefix('light/')}.onnx" if name.startswith("light/") else SHARED / f"{name}.onnx"


def main() -> int:
    """Measure, print, and write the table on request."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="parts of the names of models; all without")
    parser.add_argument("--peers", metavar="PYTHON", help="a Python with the other tools")
    parser.add_argument("--write", action="store_true", help="put the table into docs/results.md")
    args = parser.parse_args()
    rest = [f"skel/{n.removesuffix('.onnx')}" for n in SKELETONS] + [n.removesuffix(".onnx") for n in MODELS]
    names = list(dict.fromkeys([*BESIDE_PEERS, *rest]))
    rows, cells = [], []
    for name in (n for n in names if not args.names or any(part in n for part in args.names)):
        with tempfile.TemporaryDirectory() as folder:
            path = path_of(name)
            runnable = refilled(path, Path(folder)) if name.startswith("skel/") else path
            row = measure(name if name.startswith("light/") else f"{name}.onnx", path, runnable)
            rows.append(row)
            checked = f"{row.wrong} of {row.checked:,}" if row.bindings else "not run"
            ours = f"{percent(row.known, row.values)}, {row.ms:.0f} ms"
            line = [f"{name.partition('/')[2].removesuffix('.skel')} ({row.values})", ours, checked]
            if name in BESIDE_PEERS and args.peers:
                line += [peer(args.peers, tool, runnable) for tool in PEERS]
                cells.append(line)
        print(" | ".join(line), row.reason, flush=True)
    known, values = sum(r.known for r in rows), sum(r.values for r in rows)
    wrong, checked = sum(r.wrong for r in rows), sum(r.checked for r in rows)
    slowest = max(rows, key=lambda r: r.ms)
    note = (
        f"Of all {len(rows)} models: {known:,} of {values:,} values known ({percent(known, values)}), {wrong} wrong of "
        f"{checked:,} checked; the slowest took {slowest.ms:.0f} ms ({slowest.name})."
    )
    print(note)
    if args.write:
        write_table("shapes", ("model (values)", "OInfer", "wrong", *PEERS.values()), cells, note)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
