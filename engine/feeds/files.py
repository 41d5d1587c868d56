"""Files that hold tensors: .npz and .npy of NumPy, and the .pb files and test folders of the ONNX model zoo."""

from __future__ import annotations

import os
import re
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from engine.dtypes import from_numpy
from engine.errors import ExportError, InputError
from engine.words import quoted
from engine.writing import replacing

INPUT_PREFIX, OUTPUT_PREFIX = "in:", "out:"
MAX_NAME = 65_535 - len(".npy")  # bytes
_NPY, _ZIP = b"\x93NUMPY", b"PK"
UNNAMED = ""  # the key of a file that holds one array without a name


def load_feeds(path: str | Path) -> dict[str, np.ndarray]:
    """The arrays of a file by input name.

    Parameters
    ----------
    path: an .npz whose keys are ``NAME`` or ``in:NAME`` (``out:NAME`` and ``everyN:…`` are passed over), an .npy
        (one array, under the key ``""``), a .pb (one `TensorProto`), or a folder with ``input_0.pb``, ``input_1.pb`` ….
        A tensor without a name goes under ``""``, those of a folder under ``"#0"``, ``"#1"`` … by place.

    Raises
    ------
    InputError: the file is missing, is not of these kinds, holds pickled objects, or no inputs.
    """
    path = Path(path)
    if os.path.isdir(path):
        return _read_folder(path)
    arrays = load_arrays(path)
    if any(key.startswith(INPUT_PREFIX) for key in arrays):
        return {key.removeprefix(INPUT_PREFIX): a for key, a in arrays.items() if key.startswith(INPUT_PREFIX)}
    feeds = {key: a for key, a in arrays.items() if not re.match(r"(every\d+:)?out:", key)}
    if not feeds:
        raise InputError(f"{path} holds no inputs, but outputs alone: {quoted(arrays)}")
    return feeds


def load_arrays(path: str | Path) -> dict[str, np.ndarray]:
    """Every array of an .npz, .npy or .pb file by its key in the file; strings come as arrays of objects.

    Raises
    ------
    InputError: the file is missing, is not of these kinds, is damaged, or holds pickled objects or nothing.
    """
    path = Path(path)
    try:
        if path.is_dir():
            raise InputError(f"{path} is a folder; give an .npz, .npy or .pb file")
        _refuse_endless(path)
        if not path.stat().st_size:
            raise InputError(f"{path} is empty; give an .npz, .npy or .pb file")
        return _read_tensor_proto(path) if path.suffix == ".pb" else _read_numpy(path)
    except InputError:
        raise
    except FileNotFoundError as error:
        raise InputError(f"{path} does not exist") from error
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from error
    except MemoryError as error:
        raise InputError(f"{path} holds arrays that do not fit into memory") from error
    except Exception as error:  # a damaged file leads NumPy's parsers to errors of many types
        why = "pickled objects, which can run code, are refused" if "pickle" in str(error) else error
        raise InputError(f"{path} cannot be read: {why}") from error


def save_arrays(
    path: str | Path, arrays: Mapping[str, Any], go_on: Callable[[], object] = lambda: None
) -> list[str]:
    """Write arrays under their names as .npz; returns the names of values that such a file cannot hold. `go_on` is
    called again and again and may raise to stop.

    Types that NumPy itself lacks are widened without loss: bfloat16, float8, float6 and float4 to float32, 4- and
    2-bit integers to 8 bits; strings become fixed-width text. Sequences, maps and absent optionals are left out, and
    so is what has a name that no entry of an archive can have.

    Raises
    ------
    ExportError: the file cannot be written; what was there stays.
    """
    kept, left_out = {}, []
    for name, value in arrays.items():
        if isinstance(value, (np.ndarray, np.generic)) and _is_entry(name):
            kept[name] = storable(np.asarray(value))
        else:
            left_out.append(name)
    try:
        with replacing(path, go_on) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_STORED, allowZip64=True) as archive:
            for name, array in kept.items():  # not np.savez: it cannot write a key called "file"
                with archive.open(f"{name}.npy", "w", force_zip64=True) as entry:
                    np.lib.format.write_array(entry, np.asanyarray(array), allow_pickle=False)
    except OSError as error:
        raise ExportError(f"{path} cannot be written: {error.strerror or error}") from error
    return left_out


def _is_entry(name: str) -> bool:
    """Whether an entry of a zip archive, with `.npy` behind, can have a name: UTF-8 of 65,535 bytes at most."""
    try:
        return len(name.encode()) <= MAX_NAME
    except UnicodeEncodeError:  # a half of a surrogate pair
        return False


def storable(array: np.ndarray) -> np.ndarray:
    """`array` in a dtype that .npy files know, without loss."""
    if array.dtype == object:
        return array.astype(str)
    if array.dtype.kind != "V" and array.dtype.isbuiltin == 1:
        return array
    if is_extension_float(array.dtype):
        return array.astype(np.float32)
    return array.astype(np.uint8 if str(array.dtype).startswith("u") else np.int8)


def is_extension_float(dtype: np.dtype) -> bool:
    """Whether `dtype` is a float type of ml_dtypes, such as bfloat16."""
    element = from_numpy(dtype)
    return dtype.isbuiltin != 1 and element is not None and element.kind == "float"


def _read_numpy(path: Path) -> dict[str, np.ndarray]:
    with path.open("rb") as file:
        start = file.read(len(_NPY))
        if not start.startswith((_NPY, _ZIP)):
            raise InputError(f"{path} is not an .npz, .npy or .pb file: it begins with {start!r}")
        file.seek(0)
        loaded = np.load(file, allow_pickle=False)
        if isinstance(loaded, np.ndarray):
            return {UNNAMED: _objects(loaded)}
        if not loaded.files:
            raise InputError(f"{path} holds no arrays")
        arrays = {key: loaded[key] for key in loaded.files}
    for key, array in arrays.items():
        if not isinstance(array, np.ndarray):
            raise InputError(f"{path} is no .npz file: it holds {key!r}, which is no array")
    return {key: _objects(array) for key, array in arrays.items()}


def _objects(array: np.ndarray) -> np.ndarray:
    return array.astype(object) if array.dtype.kind in "US" else array


def _read_folder(folder: Path) -> dict[str, np.ndarray]:
    places = {int(m[1]): file for file in folder.iterdir() if (m := re.fullmatch(r"input_(\d+)\.pb", file.name))}
    if not places:
        raise InputError(f"{folder} is a folder without input_0.pb; give an .npz, .npy or .pb file, or such a folder")
    feeds = {}
    for place, file in sorted(places.items()):
        ((name, array),) = _read_tensor_proto(file).items()
        feeds[name or f"#{place}"] = array
    return feeds


def _refuse_endless(path: Path) -> None:
    """A pipe would be waited for, and a device never ends."""
    if os.path.exists(path) and not os.path.isfile(path):
        raise InputError(f"{path} is not a regular file")


def _read_tensor_proto(path: Path) -> dict[str, np.ndarray]:
    import onnx
    from google.protobuf.message import DecodeError
    from onnx import numpy_helper

    _refuse_endless(path)
    proto = onnx.TensorProto()
    try:
        proto.ParseFromString(path.read_bytes())
        if proto.data_type not in onnx.TensorProto.DataType.values() or not proto.data_type:
            raise ValueError(f"there is no element type {proto.data_type}")
        if proto.data_location == onnx.TensorProto.EXTERNAL:
            raise InputError(f"{path} keeps its data in another file, which is not read here")
        return {proto.name: _objects(np.asarray(numpy_helper.to_array(proto)))}
    except (DecodeError, TypeError, ValueError, KeyError) as error:
        raise InputError(f"{path} does not hold one tensor (onnx TensorProto): {error}") from error
