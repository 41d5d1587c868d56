"""Faults of stored data: sizes, types, places, sparse tensors."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from onnx import ModelProto, SparseTensorProto, TensorProto, numpy_helper

from tests.engine.checks.faults.making import Y, fault, graph


def with_weight(change: Callable[[TensorProto], object], dims: str = "3") -> ModelProto:
    """y = x + w, where `change` spoils the float32 [3] w."""
    proto = graph("y = Add(x, w)")
    weight = numpy_helper.from_array(np.arange(3, dtype=np.float32), "w")
    change(weight)
    proto.graph.initializer.append(weight)
    return proto


def external(weight: TensorProto, **entries: str) -> None:
    weight.ClearField("raw_data")
    weight.data_location = TensorProto.EXTERNAL
    for key, value in entries.items():
        weight.external_data.add(key=key, value=value)


@fault("bad-data", says="its element type 0")
def weight_without_type() -> ModelProto:
    return with_weight(lambda w: setattr(w, "data_type", 0))


@fault("bad-data", says="needs 12 bytes, and 8 are stored")
def weight_cut_short() -> ModelProto:
    return with_weight(lambda w: setattr(w, "raw_data", bytes(8)))


@fault("bad-data", refused=False, says="needs 12 bytes, and 16 are stored")
def weight_too_long() -> ModelProto:
    return with_weight(lambda w: setattr(w, "raw_data", bytes(16)))


@fault("bad-data", says="0 are stored")
def weight_without_values() -> ModelProto:
    return with_weight(lambda w: w.ClearField("raw_data"))


@fault("ambiguous-data", says="are in raw_data and float_data")
def weight_stored_twice() -> ModelProto:
    return with_weight(lambda w: w.float_data.extend([1, 2, 3]))


@fault("bad-data")
def weight_in_the_wrong_field() -> ModelProto:
    def change(weight: TensorProto) -> None:
        weight.ClearField("raw_data")
        weight.int32_data.extend([1, 2, 3])

    return with_weight(change)


@fault("bad-data", says="negative")
def weight_with_a_negative_length() -> ModelProto:
    def change(weight: TensorProto) -> None:
        weight.dims[0] = -3

    return with_weight(change)


@fault("bad-data")
def empty_weight_with_values() -> ModelProto:
    def change(weight: TensorProto) -> None:
        weight.dims[0] = 0

    return with_weight(change)


@fault("bad-data", says="raw bytes")
def strings_in_raw_data() -> ModelProto:
    proto = graph("y = Identity(w)", "", "string[1] y")
    proto.graph.initializer.append(TensorProto(name="w", data_type=TensorProto.STRING, dims=[1], raw_data=b"abc"))
    return proto


@fault("bad-data", says="attribute 'value'")
def constant_cut_short() -> ModelProto:
    proto = graph("c = Constant<value = float[3] {1.0, 2.0, 3.0}>() y = Add(x, c)")
    proto.graph.node[0].attribute[0].t.float_data.pop()
    return proto


@fault("external-path")
def external_without_location() -> ModelProto:
    return with_weight(external)


@fault("external-path", says="'../w.bin'")
def external_outside() -> ModelProto:
    return with_weight(lambda w: external(w, location="../w.bin"))


@fault("external-missing")
def external_that_is_not_there() -> ModelProto:
    return with_weight(lambda w: external(w, location="gone.bin"))


@fault("ambiguous-data", says="are in raw_data and another file")
def external_and_inside() -> ModelProto:
    def change(weight: TensorProto) -> None:
        external(weight, location="w.bin")
        weight.raw_data = bytes(12)

    return with_weight(change)


def with_sparse(
    values: np.ndarray, indices: np.ndarray, dims: tuple[int, ...] = (2, 3), outputs: str = Y
) -> ModelProto:
    """y = x + w with a sparse w."""
    proto = graph("y = Add(x, w)", outputs=outputs)
    parts = numpy_helper.from_array(values.astype(np.float32), "w"), numpy_helper.from_array(indices, "")
    proto.graph.sparse_initializer.append(SparseTensorProto(values=parts[0], indices=parts[1], dims=dims))
    return proto


ONES = np.ones(2)


@fault("sparse-form", says="values of shape [1, 2]")
def sparse_values_of_two_dims() -> ModelProto:
    return with_sparse(np.ones((1, 2)), np.array([0, 4]))


@fault("sparse-form", says="the shape []")
def sparse_scalar() -> ModelProto:
    return with_sparse(ONES, np.array([0, 4]), ())


@fault("sparse-form", says="the shape [0, 3]")
def sparse_of_no_elements() -> ModelProto:
    return with_sparse(ONES, np.array([0, 4]), (0, 3), "float[a,b] y")


@fault("sparse-form", says="not int64")
def sparse_indices_of_another_type() -> ModelProto:
    return with_sparse(ONES, np.array([0, 4], np.int32))


@fault("sparse-form", says="indices of shape [3], where [2] or [2, 2] is needed")
def sparse_indices_of_another_length() -> ModelProto:
    return with_sparse(ONES, np.array([0, 2, 4]))


@fault("sparse-form", says="indices of shape [2, 3]")
def sparse_indices_of_another_rank() -> ModelProto:
    return with_sparse(ONES, np.array([[0, 0, 0], [1, 1, 1]]))


@fault("sparse-indices", says="has a value at [6], which is outside")
def sparse_index_out_of_range() -> ModelProto:
    return with_sparse(ONES, np.array([0, 6]))


@fault("sparse-indices", says="has a value at [1, 3], which is outside")
def sparse_coordinate_out_of_range() -> ModelProto:
    return with_sparse(ONES, np.array([[0, 0], [1, 3]]))


@fault("sparse-indices", says="do not ascend from [4] on")
def sparse_indices_that_fall() -> ModelProto:
    return with_sparse(ONES, np.array([4, 1]))


@fault("sparse-indices", says="do not ascend from [0, 1] on")
def sparse_coordinate_twice() -> ModelProto:
    return with_sparse(ONES, np.array([[0, 1], [0, 1]]))


@fault("sparse-indices", "shape-clash", says="do not ascend")
def sparse_shape_beyond_all_memory() -> ModelProto:
    return with_sparse(ONES, np.array([[1, 5], [1, 2]]), (2**62, 2**62), "float[a,b] y")
