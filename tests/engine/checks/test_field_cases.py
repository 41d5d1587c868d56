"""Situations that people reported in public (shared/cases/cases.md, 1 to 10, 18 and 33): what is told of each.

Values are worked out by hand from the operators' definitions.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import ModelProto, TensorProto, numpy_helper, parser

from engine.diagnostics import Diagnostic
from engine.errors import CannotRunError, InputError, ModelFormatError
from engine.graph.ir import Model, ValueSource
from engine.opening import open_model
from engine.session import Session


def opened(proto: ModelProto, folder: Path) -> Model:
    path = folder / "model.onnx"
    path.write_bytes(proto.SerializeToString())
    return open_model(path)


def run(model: Model, **feeds: np.ndarray | float) -> dict[str, np.ndarray]:
    return dict(Session(model).run({name: np.asarray(value) for name, value in feeds.items()}).outputs)


def told(model: Model) -> list[tuple[str, str, str]]:
    return [(d.code, d.node, d.tensor) for d in model.diagnostics]


def floats(*values: float) -> np.ndarray:
    return np.array(values, np.float32)


# --- 1 to 4: external data


def external(**entries: object) -> ModelProto:
    """y = x + w, with a float32 [4] w in another file."""
    head = '<ir_version: 8, opset_import: ["" : 17]>'
    proto = parser.parse_model(f"{head} g (float[4] x) => (float[4] y) {{ [add] y = Add(x, w) }}")
    weight = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[4], data_location=TensorProto.EXTERNAL)
    for key, value in entries.items():
        weight.external_data.add(key=key, value=str(value))
    proto.graph.initializer.append(weight)
    return proto


@pytest.mark.parametrize("location", ["../secret.bin", "sub/../../secret.bin", "ABSOLUTE", "link.bin"])
def test_1_data_outside_the_folder_is_refused(tmp_path: Path, location: str) -> None:
    secret = tmp_path / "secret.bin"
    secret.write_bytes(floats(6, 6, 6, 6).tobytes())
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "link.bin").symlink_to(secret)
    model = opened(external(location=location.replace("ABSOLUTE", str(secret))), folder)
    (finding,) = model.diagnostics
    assert finding.code in ("external-path", "external-link")
    assert finding.tensor == "w"
    assert "refused" in finding.message
    with pytest.raises(CannotRunError):
        run(model, x=floats(0, 0, 0, 0))


def test_2_a_link_inside_the_folder_is_fine(tmp_path: Path) -> None:
    (tmp_path / "blob").write_bytes(floats(1, 2, 3, 4).tobytes())
    (tmp_path / "w.bin").symlink_to(tmp_path / "blob")
    model = opened(external(location="w.bin"), tmp_path)
    assert told(model) == []
    assert run(model, x=floats(1, 1, 1, 1))["y"].tolist() == [2, 3, 4, 5]


def test_2_a_model_that_is_a_link_finds_the_data_beside_it(tmp_path: Path) -> None:
    blobs, snapshot = tmp_path / "blobs", tmp_path / "snapshot"
    blobs.mkdir()
    snapshot.mkdir()
    (blobs / "1234").write_bytes(external(location="w.bin").SerializeToString())
    (blobs / "5678").write_bytes(floats(1, 2, 3, 4).tobytes())
    (snapshot / "model.onnx").symlink_to(Path("../blobs/1234"))
    (snapshot / "w.bin").symlink_to(Path("../blobs/5678"))
    model = open_model(snapshot / "model.onnx")
    assert told(model) == []
    assert run(model, x=floats(0, 0, 0, 0))["y"].tolist() == [1, 2, 3, 4]


@pytest.mark.parametrize(
    ("entries", "words"),
    [
        ({"offset": 12}, ("bytes 12 to 28", "16")),
        ({"offset": -4}, ("'-4'",)),
        ({"length": 10**12}, ("1000000000000", "16")),
        ({"length": 8}, ("8 bytes", "16")),
    ],
)
def test_3_a_bad_range_costs_that_weight_and_not_the_model(
    tmp_path: Path, entries: dict[str, int], words: tuple[str, ...]
) -> None:
    (tmp_path / "w.bin").write_bytes(bytes(16))
    model = opened(external(location="w.bin", **entries), tmp_path)
    (finding,) = model.diagnostics
    assert (finding.code, finding.tensor) == ("external-range", "w")
    assert "w.bin" in finding.message or "offset" in finding.message
    assert all(word in finding.message for word in words)
    assert [node.name for node in model.graph.order] == ["add"]


def test_3_an_unknown_key_means_nothing(tmp_path: Path) -> None:
    (tmp_path / "w.bin").write_bytes(bytes(16))
    assert told(opened(external(location="w.bin", __class__="x"), tmp_path)) == []


def test_4_a_missing_file_is_told_once_with_its_size(tmp_path: Path) -> None:
    proto = external(location="gone.bin", length=16)
    for name in ("a", "b"):
        proto.graph.initializer.add().CopyFrom(proto.graph.initializer[0])
        proto.graph.initializer[-1].name = name
    proto.graph.node[0].output[0] = "t"
    proto.graph.node.add(op_type="Sum", input=["t", "a", "b"], output=["y"])
    model = opened(proto, tmp_path)
    (finding,) = model.diagnostics
    assert finding.code == "external-missing"
    assert "3 tensors (48 bytes" in finding.message
    assert "'gone.bin'" in finding.message
    (y,) = model.graph.outputs
    assert y.inferred_shape == (4,)
    with pytest.raises(CannotRunError):
        run(model, x=floats(0, 0, 0, 0))


# --- 5: files that are no models


def test_5_a_truncated_model_is_refused(shared: Path, tmp_path: Path) -> None:
    whole = (shared / "models/gen/mnist_ts.onnx").read_bytes()
    path = tmp_path / "cut.onnx"
    path.write_bytes(whole[:3000])
    with pytest.raises(ModelFormatError, match=r"byte \d+"):
        open_model(path)


# --- 6, 7: initializers and inputs


def fused(ir_version: int, inputs: str) -> ModelProto:
    head = f'<ir_version: {ir_version}, opset_import: ["" : 9]>'
    proto = parser.parse_model(f"{head} g ({inputs}) => (float[2] y) {{ y = Add(x, w) }}")
    proto.graph.initializer.append(numpy_helper.from_array(floats(10, 20), "w"))
    return proto


def test_6_an_initializer_and_an_input_of_one_name(tmp_path: Path) -> None:
    model = opened(fused(4, "float[2] x, float[2] w"), tmp_path)
    assert told(model) == []
    assert model.graph.tensors["w"].source is ValueSource.OVERRIDABLE
    assert run(model, x=floats(1, 2))["y"].tolist() == [11, 22]
    assert run(model, x=floats(1, 2), w=floats(5, 5))["y"].tolist() == [6, 7]
    model = opened(fused(3, "float[2] x, float[2] w"), tmp_path)
    assert told(model) == []
    assert model.graph.tensors["w"].source is ValueSource.CONSTANT
    assert run(model, x=floats(1, 2))["y"].tolist() == [11, 22]
    with pytest.raises(InputError):
        run(model, x=floats(1, 2), w=floats(5, 5))


def test_7_an_old_initializer_that_is_no_input_runs_with_a_warning(tmp_path: Path) -> None:
    model = opened(fused(3, "float[2] x"), tmp_path)
    assert told(model) == [("initializer-not-in-inputs", "", "w")]
    assert model.diagnostics[0].severity == "warning"
    assert run(model, x=floats(1, 2))["y"].tolist() == [11, 22]


# --- 8: shadowing


def test_8_each_name_that_hides_an_outer_one_is_told(tmp_path: Path) -> None:
    proto = parser.parse_model("""
        <ir_version: 8, opset_import: ["" : 17]>
        g (float b) => (float y) {
            trips = Constant<value_int = 3>()
            one = Constant<value_float = 1.0>()
            step = Relu(b)
            go = Constant<value_int = 1>()
            always = Cast<to = 9>(go)
            [loop] y = Loop(trips, always, b) <body = body (int64 i, bool go_on, float b) => (bool again, float b_out) {
                again = Identity(go_on)
                [inner] step = Add(b, one)
                b_out = Identity(step)
            }>
            z = Neg(step)
        }""")
    proto.graph.output.append(onnx.helper.make_tensor_value_info("z", 1, []))
    model = opened(proto, tmp_path)
    assert told(model) == [
        ("shadowed-name", "loop", "loop/body/b"),
        ("shadowed-name", "loop/body/inner", "loop/body/step"),
    ]
    outputs = run(model, b=np.float32(10))
    assert outputs["y"] == 13  # 10 + 3 · 1
    assert outputs["z"] == -10  # the outer step is untouched


def test_8_sixteen_collisions_are_sixteen_findings(tmp_path: Path) -> None:
    """As in slanet-plus: every value of the body has the name of one before the loop."""
    before = " ".join(f"v{i} = {'Relu(x)' if i == 0 else f'Relu(v{i - 1})'}" for i in range(16))
    inside = " ".join(f"v{i} = Neg({'s' if i == 0 else f'v{i - 1}'})" for i in range(16))
    proto = parser.parse_model(f"""
        <ir_version: 8, opset_import: ["" : 17]>
        g (float[2] x, int64 n, bool c) => (float[2] y) {{
            {before}
            [loop] y = Loop(n, c, v15) <body = b (int64 i, bool k, float[2] s) => (bool l, float[2] v15) {{
                l = Identity(k) {inside}
            }}>
        }}""")
    model = opened(proto, tmp_path)
    assert told(model) == [("shadowed-name", f"loop/body/Neg_{i + 1}", f"loop/body/v{i}") for i in range(16)]
    outputs = run(model, x=floats(1, 2), n=np.int64(3), c=np.array(True))
    assert outputs["y"].tolist() == [1, 2]  # sixteen negations are none


def test_8_the_names_of_what_comes_after_are_free(tmp_path: Path) -> None:
    """Both branches may call their value as the node calls its own: it does not exist when they run."""
    proto = parser.parse_model("""
        <ir_version: 8, opset_import: ["" : 17]>
        g (float[2] x, bool c) => (float[2] z) {
            y = If(c) <then_branch = t () => (float[2] y) { y = Relu(x) },
                       else_branch = e () => (float[2] z) { z = Neg(x) }>
            z = Abs(y)
        }""")
    assert told(opened(proto, tmp_path)) == []


# --- 9, 10: order


def test_9_an_unsorted_file_is_sorted_and_runs(tmp_path: Path) -> None:
    head = '<ir_version: 8, opset_import: ["" : 17]>'
    model = opened(parser.parse_model(f"{head} g (float[2] x) => (float[2] y) {{ [r] y = Relu(b) [n] b = Neg(x) }}"),
                   tmp_path)  # fmt: skip
    assert told(model) == [("unsorted", "r", "")]
    assert "1 of 2 nodes stands in the file before what is read there" in model.diagnostics[0].message
    assert [node.name for node in model.graph.order] == ["n", "r"]
    assert run(model, x=floats(-1, 2))["y"].tolist() == [1, 0]


def test_10_a_cycle_is_told_as_a_path(tmp_path: Path) -> None:
    head = '<ir_version: 8, opset_import: ["" : 17]>'
    body = "[sum] a = Add(x, b) [minus] b = Neg(a) [next] y = Relu(b)"
    model = opened(parser.parse_model(f"{head} g (float[2] x) => (float[2] y) {{ {body} }}"), tmp_path)
    assert told(model) == [("cycle", "sum", ""), ("after-cycle", "next", "")]
    assert "sum → minus → sum" in model.diagnostics[0].message
    assert "the node 'next' waits for a cycle" in model.diagnostics[1].message
    assert len(model.graph.nodes) == 3  # still there to be drawn
    with pytest.raises(CannotRunError, match="cycle"):
        run(model, x=floats(1, 2))


# --- 18: a batch size baked into a Reshape


def test_18_a_dim_that_only_one_size_fits(tmp_path: Path) -> None:
    head = '<ir_version: 8, opset_import: ["" : 17]>'
    body = "s = Constant<value_ints = [1, 36]>() [flat] y = Reshape(x, s)"
    model = opened(parser.parse_model(f"{head} g (float[N,9,4] x) => (float[N,36] y) {{ {body} }}"), tmp_path)
    forced = found(model, "forced-dim")
    assert forced.node == "flat"
    assert "N" in forced.message
    assert "1" in forced.message
    assert forced.severity == "warning"


def found(model: Model, code: str) -> Diagnostic:
    (finding,) = [d for d in model.diagnostics if d.code == code]
    return finding


# --- 33: opsets, domains and operators that nobody knows


def test_33_unknown_domains_and_operators_are_counted_and_named(tmp_path: Path) -> None:
    proto = parser.parse_model("""
        <ir_version: 8, opset_import: ["" : 17, "com.acme" : 1]>
        g (float[2] x) => (float[2] y) {
            [first] a = com.acme.FusedThing(x)
            [second] b = com.acme.FusedThing(a)
            y = Relu(b)
        }""")
    model = opened(proto, tmp_path)
    (finding,) = model.diagnostics
    assert (finding.code, finding.node) == ("no-kernel", "first")
    assert finding.message == "no kernel for com.acme::FusedThing: 2 nodes (first: 'first') cannot run"
    assert len(model.graph.order) == 3
    with pytest.raises(CannotRunError, match="FusedThing"):
        run(model, x=floats(1, 2))


def test_33_a_future_opset_opens(tmp_path: Path) -> None:
    head = '<ir_version: 8, opset_import: ["" : 99]>'
    model = opened(parser.parse_model(f"{head} g (float[2] x) => (float[2] y) {{ y = Relu(x) }}"), tmp_path)
    assert told(model) == [("future-opset", "", "")]
    assert "99" in model.diagnostics[0].message


def test_33_an_undeclared_domain_is_told_once(tmp_path: Path) -> None:
    head = '<ir_version: 8, opset_import: ["" : 17]>'
    body = "a = acme.F(x) b = acme.G(a) y = acme.F(b)"
    model = opened(parser.parse_model(f"{head} g (float[2] x) => (float[2] y) {{ {body} }}"), tmp_path)
    assert [code for code, *_ in told(model)].count("undeclared-opset") == 1


def test_pipes_and_devices_are_not_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    model = opened(external(location="pipe"), tmp_path)
    assert told(model) == [("external-path", "", "w")]
