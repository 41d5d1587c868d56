"""Feeds: dims that need a value, generated inputs, files, and checks against what the model declares."""

from __future__ import annotations

from pathlib import Path

import ml_dtypes
import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import engine
from engine import feeds
from engine.errors import InputError
from engine.feeds import InputSpec
from engine.graph.ir import Model
from engine.shapes.infer import infer_shapes


def model_of(*inputs: onnx.ValueInfoProto, nodes: tuple = (), initializers: tuple = (), ir_version: int = 8) -> Model:
    """A model of these inputs that hands the first one on."""
    graph = helper.make_graph(
        [*nodes, helper.make_node("Identity", [inputs[0].name], ["y"])], "g", list(inputs),
        [helper.make_empty_tensor_value_info("y")], initializer=list(initializers),
    )  # fmt: skip
    opsets = [helper.make_opsetid("", 17)]
    model = engine.load_model_proto(helper.make_model(graph, ir_version=ir_version, opset_imports=opsets))
    infer_shapes(model)
    return model


def tensor(name: str, shape: list | None, dtype: int = TensorProto.FLOAT) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, dtype, shape)


def test_symbols_name_every_place() -> None:
    model = model_of(tensor("x", ["N", 3, "H", "H"]), tensor("mask", ["N", "T"]))
    uses = {name: [(use.input, use.axis) for use in places] for name, places in feeds.symbols(model).items()}
    assert uses == {"N": [("x", 0), ("mask", 0)], "H": [("x", 2), ("x", 3)], "T": [("mask", 1)]}


def test_an_unknown_dim_is_a_symbol_of_its_own() -> None:
    model = model_of(tensor("x", [None, 4]), tensor("z", [None, "?"]))
    names = list(feeds.symbols(model))
    assert len(names) == 3
    assert len(set(names)) == 3
    made = feeds.make_feeds(model, dict(zip(names, (2, 3, 5))))
    assert made["x"].shape == (2, 4)
    assert made["z"].shape == (3, 5)


def test_names_that_are_no_identifiers_are_understood() -> None:
    model = model_of(tensor("x", ["batch-size", "T"]))
    assert list(feeds.symbols(model)) == ["batch_size", "T"]
    assert feeds.declared_names(model) == {"batch-size": "batch_size"}


@pytest.mark.parametrize(
    ("shape", "sizes"),
    [
        (["N", 3, "H", "W"], [1, 3, 224, 224]),
        (["batch", "time", 80], [1, 16, 80]),
        ([2, 6, "past_length", 32], [2, 6, 0, 32]),
    ],
)
def test_default_dims(shape: list, sizes: list[int]) -> None:
    model = model_of(tensor("x", shape))
    assert list(feeds.make_feeds(model, feeds.default_dims(model))["x"].shape) == sizes


def masked() -> Model:
    """A mask over what is cached and what is new, as decoders have: s is past + seq, and p as long as seq."""
    cat = helper.make_node("Concat", ["cache", "new"], ["all"], axis=1)
    add = helper.make_node("Mul", ["all", "mask"], ["masked"])
    product = helper.make_node("MatMul", ["new", "square"], ["z"])
    inputs = [tensor("cache", [2, "past"]), tensor("new", [2, "seq"]), tensor("mask", [2, "s"]),
              tensor("square", ["p", 3])]  # fmt: skip
    return model_of(*inputs, nodes=(cat, add, product))


@pytest.mark.parametrize(
    ("given", "sizes"),
    [
        ({}, {"past": 0, "seq": 512, "s": 512, "p": 512}),
        ({"seq": 4, "past": 3}, {"past": 3, "seq": 4, "s": 7, "p": 4}),
        ({"s": 9}, {"past": 0, "seq": 9, "s": 9, "p": 9}),
        ({"s": 1, "seq": 6}, {"past": 0, "seq": 6, "s": 1, "p": 6}),  # one of two that broadcast may be 1
        ({"s": 3, "seq": 8, "past": 0}, {"past": 0, "seq": 8, "s": 3, "p": 8}),  # fits no how: the run will say so
    ],
)
def test_dims_that_nobody_gave_follow_from_the_others(given: dict[str, int], sizes: dict[str, int]) -> None:
    model = masked()
    assert feeds.fit_dims(model, feeds.default_dims(model), given) == sizes


def test_a_dim_without_a_value_is_named() -> None:
    model = model_of(tensor("x", ["N", "T"]))
    with pytest.raises(InputError, match=r"dim 'T' of input 'x' \[N, T\] has no value") as error:
        feeds.make_feeds(model, {"N": 2})
    assert error.value.input_name == "x"


def test_defaults_follow_dtype_and_name() -> None:
    table = numpy_helper.from_array(np.zeros((7, 2), np.float32), "table")
    gather = helper.make_node("Gather", ["table", "cast"], ["row"])
    cast = helper.make_node("Cast", ["input_ids"], ["cast"], to=TensorProto.INT64)
    model = model_of(
        tensor("x", [2]), tensor("input_ids", [500], TensorProto.INT32),
        tensor("attention_mask", [4], TensorProto.INT64),
        tensor("token_type_ids", [4], TensorProto.INT64), tensor("flag", [2], TensorProto.BOOL),
        tensor("sr", [], TensorProto.INT64), tensor("s", [3], TensorProto.STRING),
        nodes=(cast, gather), initializers=(table,),
    )  # fmt: skip
    made = feeds.make_feeds(model, {})
    assert made["x"].dtype == np.float32
    assert made["input_ids"].dtype == np.int32
    assert set(made["input_ids"]) == set(range(7))  # every row of the table, none beyond it
    assert made["attention_mask"].tolist() == [1] * 4
    assert made["token_type_ids"].tolist() == [0] * 4
    assert made["flag"].tolist() == [True, True]
    assert made["sr"] == 16000
    assert made["s"].dtype == object
    assert all(isinstance(word, str) for word in made["s"])


def test_each_input_draws_from_its_own_stream() -> None:
    model = model_of(tensor("a", [50]), tensor("b", [50]))
    first, again = (feeds.make_feeds(model, {}, seed=3) for _ in range(2))
    assert np.array_equal(first["b"], again["b"])
    assert not np.array_equal(first["a"], first["b"])
    other_a = feeds.make_feeds(model, {}, {"a": InputSpec("ones")}, seed=3)
    assert np.array_equal(other_a["b"], first["b"])
    assert not np.array_equal(feeds.make_feeds(model, {}, seed=4)["b"], first["b"])


def test_generators_keep_their_promises() -> None:
    def make(text: str, dtype: int) -> np.ndarray:
        return feeds.make_feeds(model_of(tensor("x", [4000], dtype)), {}, {"x": InputSpec.parse(text)})["x"]

    assert make("normal:3", TensorProto.DOUBLE).std() == pytest.approx(3, rel=0.1)
    uniform = make("uniform:-2:5", TensorProto.FLOAT16)
    assert uniform.dtype == np.float16
    assert -2 <= uniform.min() < -1.9 < 4.9 < uniform.max() <= 5
    assert set(make("integers:-1:3", TensorProto.FLOAT)) == {-1, 0, 1, 2}
    assert set(make("2.5", TensorProto.BFLOAT16).astype(float)) == {2.5}
    assert make("zeros", TensorProto.BOOL).sum() == 0
    assert make("true", TensorProto.BOOL).all()
    assert set(make("words:a,b", TensorProto.STRING)) == {"a", "b"}
    assert set(make("normal:100", TensorProto.INT8).tolist()) <= set(range(-128, 128))  # held, not wrapped round
    assert set(make("300", TensorProto.UINT8)) == {255}
    assert set(make("1e30", TensorProto.INT64)) == {2**63 - 1024}
    assert set(make("9", TensorProto.INT4).astype(int)) == {7}
    assert set(make(str(2**63 - 1), TensorProto.INT64)) == {2**63 - 1}  # which no float holds
    assert set(make(str(2**53 + 1), TensorProto.UINT64)) == {2**53 + 1}
    assert set(make(str(2**63 - 1), TensorProto.INT32)) == {2**31 - 1}
    assert set(make(str(-(2**63)), TensorProto.UINT8)) == {0}


@pytest.mark.parametrize("text", ["normal", "normal:0.1", "uniform:-1:2.5", "integers:0:10", "ones", "zeros", "16000",
                                  "words:a,b", "a b.npz", "C:/f.npz:in:x", "d/x.npy", "input_0.pb"])  # fmt: skip
def test_text_of_a_spec_reads_back(text: str) -> None:
    assert str(InputSpec.parse(text)) == text


@pytest.mark.parametrize("text", ["gauss", "uniform:1", "uniform:2:1", "integers:a:b", "normal:1:2", "integers:0:inf",
                                  "integers:0:1e19", "integers:-1e30:0", "uniform:-1e308:1e308", "tokens:nan",
                                  "tokens:inf", "tokens:1e40", "tokens:-1", "9" * 5000])  # fmt: skip
def test_a_spec_that_says_nothing_is_refused(text: str) -> None:
    with pytest.raises(InputError):
        InputSpec.parse(text)


def test_words_do_not_fill_numbers_nor_numbers_strings() -> None:
    with pytest.raises(InputError, match="'x' holds float32"):
        feeds.make_feeds(model_of(tensor("x", [2])), {}, {"x": InputSpec("words")})
    with pytest.raises(InputError, match="'x' holds string"):
        feeds.make_feeds(model_of(tensor("x", [2], TensorProto.STRING)), {}, {"x": InputSpec("ones")})


def test_whole_shapes_replace_the_declared_ones() -> None:
    model = model_of(tensor("x", None), tensor("s", ["N"]))
    with pytest.raises(InputError, match="declares no rank"):
        feeds.make_feeds(model, {"N": 1})
    made = feeds.make_feeds(model, {}, shapes={"x": (2, 3), "s": (0,)})
    assert made["x"].shape == (2, 3)
    assert made["s"].shape == (0,)
    assert feeds.make_feeds(model, {}, shapes={"x": (), "s": (1,)})["x"].shape == ()


def test_inputs_beyond_the_memory_are_refused_before_they_are_made() -> None:
    with pytest.raises(InputError, match="memory that is free"):
        feeds.make_feeds(model_of(tensor("x", ["N"])), {"N": 10**15})


def test_a_sequence_cannot_be_generated() -> None:
    value = helper.make_tensor_sequence_value_info("x", TensorProto.FLOAT, None)
    with pytest.raises(InputError, match="sequence"):
        feeds.make_feeds(model_of(value), {})


def test_overridable_initializers_are_fed_on_demand_and_constants_never() -> None:
    weight = numpy_helper.from_array(np.zeros(2, np.float32), "w")
    model = model_of(tensor("x", [2]), tensor("w", [2]), initializers=(weight,))
    assert list(feeds.make_feeds(model, {})) == ["x"]
    assert feeds.make_feeds(model, {}, {"w": InputSpec("ones")})["w"].tolist() == [1, 1]
    constant = model_of(tensor("x", [2]), tensor("w", [2]), initializers=(weight,), ir_version=3)
    with pytest.raises(InputError, match=r"constant of this model \(IR version 3\)"):
        feeds.make_feeds(constant, {}, {"w": InputSpec("ones")})
    with pytest.raises(InputError, match=r"constant of this model \(IR version 3\)"):
        feeds.check_feeds(constant, {"x": np.zeros(2, np.float32), "w": np.zeros(2, np.float32)})


@pytest.mark.parametrize(
    ("fed", "message"),
    [
        ({}, "'x' (float32[N, 3]) is not fed"),
        ({"x": np.zeros((2, 3))}, "wants float32[N, 3], but was given float64[2, 3]"),
        ({"x": np.zeros((2, 4), np.float32)}, "wants float32[N, 3], but was given float32[2, 4]"),
        ({"x": np.zeros(3, np.float32)}, "wants float32[N, 3], but was given float32[3]"),
        ({"x": np.zeros((2, 3), np.float32), "q": np.zeros(1)}, "no input 'q'; its inputs are 'x'"),
    ],
)
def test_checks_name_what_was_wanted_and_given(fed: dict, message: str) -> None:
    with pytest.raises(InputError) as error:
        feeds.check_feeds(model_of(tensor("x", ["N", 3])), fed)
    assert message in str(error.value)


def test_checks_let_any_size_of_a_symbol_pass() -> None:
    model = model_of(tensor("x", ["N", 3]))
    for n in (0, 1, 7):
        fed = {"x": np.zeros((n, 3), np.float32)}
        feeds.check_feeds(model, fed)
        assert feeds.bound_dims(model, fed) == {"N": n}


def test_npz_keys_with_and_without_prefix(tmp_path: Path) -> None:
    x, y = np.arange(3.0), np.array(["a", "bc"])
    np.savez(tmp_path / "plain.npz", x=x, y=y)
    np.savez(tmp_path / "prefixed.npz", **{"in:x": x, "in:y": y, "out:z": x, "every2:out:w": x})
    for name in ("plain.npz", "prefixed.npz"):
        loaded = feeds.load_feeds(tmp_path / name)
        assert sorted(loaded) == ["x", "y"]
        assert loaded["y"].dtype == object
        assert loaded["y"].tolist() == ["a", "bc"]


def test_files_of_one_array(tmp_path: Path) -> None:
    model = model_of(tensor("x", ["N"]))
    array = np.arange(4, dtype=np.float32)
    np.save(tmp_path / "a.npy", array)
    (tmp_path / "input_0.pb").write_bytes(numpy_helper.from_array(array).SerializeToString())
    for source in (tmp_path / "a.npy", tmp_path / "input_0.pb", tmp_path):
        assert np.array_equal(feeds.name_feeds(model, feeds.load_feeds(source))["x"], array)
    two = model_of(tensor("x", ["N"]), tensor("y", ["N"]))
    with pytest.raises(InputError, match="wants 2 inputs: 'x', 'y'"):
        feeds.name_feeds(two, feeds.load_feeds(tmp_path / "a.npy"))


def test_one_input_from_a_file_by_key(tmp_path: Path) -> None:
    np.savez(tmp_path / "f.npz", p=np.ones(2, np.float32), q=np.zeros(2, np.float32))
    model = model_of(tensor("x", [2]))
    chosen = InputSpec.parse(f"{tmp_path}/f.npz:q")
    assert feeds.make_feeds(model, {}, {"x": chosen})["x"].tolist() == [0, 0]
    with pytest.raises(InputError, match="has no array 'x'; it has 'p', 'q'"):
        feeds.make_feeds(model, {}, {"x": InputSpec.parse(f"{tmp_path}/f.npz")})


def test_types_that_numpy_lacks_survive_a_file(tmp_path: Path) -> None:
    values = {
        "bf16": np.array([1.5, -3], ml_dtypes.bfloat16), "i4": np.array([-8, 7], ml_dtypes.int4),
        "u2": np.array([0, 3], ml_dtypes.uint2), "f8": np.array([0.5, 448], ml_dtypes.float8_e4m3fn),
        "file": np.arange(2), "text": np.array(["x", "yy"], object),
    }  # fmt: skip
    assert feeds.save_arrays(tmp_path / "o.npz", {**values, "seq": [np.ones(1)]}) == ["seq"]
    types = {"bf16": TensorProto.BFLOAT16, "i4": TensorProto.INT4, "u2": TensorProto.UINT2,
             "f8": TensorProto.FLOAT8E4M3FN, "file": TensorProto.INT64, "text": TensorProto.STRING}  # fmt: skip
    model = model_of(*(tensor(name, [2], dtype) for name, dtype in types.items()))
    back = feeds.name_feeds(model, feeds.load_feeds(tmp_path / "o.npz"))
    feeds.check_feeds(model, back)
    for name, value in values.items():
        assert back[name].dtype == value.dtype
        assert back[name].tolist() == value.tolist()


def test_a_value_that_the_narrow_type_cannot_hold_is_not_rounded(tmp_path: Path) -> None:
    model = model_of(tensor("x", [1], TensorProto.BFLOAT16))
    np.save(tmp_path / "a.npy", np.array([1.001], np.float32))
    with pytest.raises(InputError, match=r"wants bfloat16\[1\], but was given float32\[1\]"):
        feeds.check_feeds(model, feeds.name_feeds(model, feeds.load_feeds(tmp_path / "a.npy")))


def test_a_name_that_is_nearly_right_is_suggested() -> None:
    with pytest.raises(InputError, match=r"no input 'image_'; its inputs are 'image', 'mask'; did you mean 'image'\?"):
        feeds.name_feeds(model_of(tensor("image", [1]), tensor("mask", [1])), {"image_": np.ones(1, np.float32)})


def test_a_row_of_numbers() -> None:
    model = model_of(tensor("x", [2, 3], TensorProto.INT64))
    for text, values in (("arange", [0, 1, 2, 3, 4, 5]), ("arange:3", [3, 4, 5, 6, 7, 8]),
                         ("arange:1:2", [1, 3, 5, 7, 9, 11])):  # fmt: skip
        spec = InputSpec.parse(text)
        assert str(spec) == text
        assert feeds.make_feeds(model, {}, {"x": spec})["x"].reshape(-1).tolist() == values


def test_tokens_stay_inside_the_table_they_index() -> None:
    table = numpy_helper.from_array(np.zeros((5, 2), np.float32), "table")
    look_up = helper.make_node("Gather", ["table", "ids"], ["rows"])
    model = model_of(tensor("ids", [400], TensorProto.INT64), nodes=(look_up,), initializers=(table,))
    assert set(feeds.make_feeds(model, {}, {"ids": InputSpec.parse("tokens")})["ids"].tolist()) == set(range(5))
    assert set(feeds.make_feeds(model, {}, {"ids": InputSpec.parse("tokens:3")})["ids"].tolist()) == set(range(3))
    assert [str(InputSpec.parse(text)) for text in ("tokens", "tokens:3")] == ["tokens", "tokens:3"]
    unbound = feeds.make_feeds(model_of(tensor("x", [400], TensorProto.INT64)), {}, {"x": InputSpec.parse("tokens")})
    assert 5 < unbound["x"].max() < 1000


def picture(path: Path, mode: str = "RGB") -> Path:
    """Red above blue, 2 by 2."""
    image_module = pytest.importorskip("PIL.Image")
    image_module.fromarray(np.uint8([[[255, 0, 0]] * 2, [[0, 0, 255]] * 2])).convert(mode).save(path)
    return path


@pytest.mark.parametrize(
    ("shape", "scaling", "dtype", "red"),
    [
        ([1, 3, 2, 2], "", TensorProto.FLOAT, 1.0),
        ([1, 3, 2, 2], ":255", TensorProto.FLOAT, 255.0),
        ([1, 3, 2, 2], ":signed", TensorProto.FLOAT, 1.0),
        ([1, 3, 2, 2], ":imagenet", TensorProto.FLOAT, (1 - 0.485) / 0.229),
        ([3, 2, 2], "", TensorProto.FLOAT16, 1.0),
        ([1, 2, 2, 3], "", TensorProto.UINT8, 255),
    ],
)
def test_pictures(tmp_path: Path, shape: list[int], scaling: str, dtype: int, red: float) -> None:
    path = picture(tmp_path / "p.png")
    spec = InputSpec.parse(f"{path}{scaling}")
    assert str(spec) == f"{path}{scaling}"
    array = feeds.make_feeds(model_of(tensor("x", shape, dtype)), {}, {"x": spec})["x"]
    assert list(array.shape) == shape
    first = array.reshape(shape[-3:]) if len(shape) == 3 else array[0]
    channels_first = first if shape[-1] != 3 else first.transpose(2, 0, 1)
    assert channels_first[0, 0, 0] == pytest.approx(red, rel=1e-3)
    assert channels_first[0, 0, 0] > channels_first[0, 1, 1]  # red above
    assert channels_first[2, 1, 1] > channels_first[2, 0, 0]  # blue below


def test_a_picture_is_resized_and_made_grey(tmp_path: Path) -> None:
    spec = InputSpec.parse(str(picture(tmp_path / "p.png")))
    array = feeds.make_feeds(model_of(tensor("x", [2, 1, 8, 6])), {}, {"x": spec})["x"]
    assert array.shape == (2, 1, 8, 6)
    np.testing.assert_array_equal(array[0], array[1])
    assert array[0, 0, 0, 0] == pytest.approx(0.299, abs=0.01)  # the luma of red


@pytest.mark.parametrize(
    ("shape", "text", "message"),
    [([2, 5, 7], "{}", "does not hold pictures"), ([1, 3, 2, 2], "{}:nonsense", "scales no pixels"),
     ([1, 1, 2, 2], "{}:imagenet", "for three"), ([1, 3, 2, 2], "nowhere.png", "does not exist"),
     ([1, 3, 2, 2], "{}.jpg", "no picture that can be read")],
)  # fmt: skip
def test_pictures_that_do_not_fit(tmp_path: Path, shape: list[int], text: str, message: str) -> None:
    path = picture(tmp_path / "p.png")
    (tmp_path / "p.png.jpg").write_bytes(b"nonsense")
    with pytest.raises(InputError, match=message):
        feeds.make_feeds(model_of(tensor("x", shape)), {}, {"x": InputSpec.parse(text.format(path))})


@pytest.mark.parametrize("dim", [2, 2**62])
def test_more_dims_than_an_array_can_have_are_refused(dim: int) -> None:
    with pytest.raises(InputError, match="'x' declares 65 dims, and arrays have 64 at most"):
        feeds.make_feeds(model_of(tensor("x", [dim] * 65)), {})


def test_inputs_beyond_any_machine_are_refused() -> None:
    with pytest.raises(InputError, match="brings the inputs to more than 1024 PiB"):
        feeds.make_feeds(model_of(tensor("x", [2**62] * 64)), {})
