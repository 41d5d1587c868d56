"""What people open by mistake, recognised by its first bytes or by its protobuf fields, with what to do about it."""
from __future__ import annotations

from collections.abc import Set as AbstractSet

from engine.graph.storage import Storage
from engine.graph.wire import LENGTH, RAW_DATA, TYPED_DATA, VARINT

HEAD = 512  # bytes that are looked at

_EXPORT = "export it to ONNX where it was made"
_UNPACK = "unpack it and open the model inside"

_STARTS: tuple[tuple[bytes, str], ...] = (
    (b"version https://git-lfs", "a Git LFS pointer, not the model itself: run `git lfs pull` where it came from"),
    (b"<!doctype", "a web page, probably a download error page: download the file itself"),
    (b"<html", "a web page, probably a download error page: download the file itself"),
    (b"<?xml", "an XML document; an OpenVINO IR model is one: open the ONNX model it was made from"),
    (b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19.", f"a PyTorch checkpoint: {_EXPORT} (torch.onnx.export)"),
    *((b"\x80" + bytes([n]), f"a Python pickle, perhaps a PyTorch or scikit-learn model: {_EXPORT}")
      for n in range(2, 6)),
    (b"\x89HDF\r\n\x1a\n", f"an HDF5 file, perhaps a Keras model: {_EXPORT} (tf2onnx)"),
    (b"GGUF", "a GGUF file (llama.cpp), which holds weights only: open the ONNX export of the model"),
    (b"\x93NUMPY", "a NumPy array, not a model: give it to `oinfer run --inputs`"),
    (b"ftrt", "a TensorRT engine: open the ONNX model it was built from"),
    (b"ptrt", "a TensorRT engine: open the ONNX model it was built from"),
    (b"7767517\n", "an ncnn parameter file: open the ONNX model it was made from"),
    (b"BZh", f"a bzip2 archive: {_UNPACK}"),
    (b"\xfd7zXZ\x00", f"an xz archive: {_UNPACK}"),
    (b"\x28\xb5\x2f\xfd", f"a Zstandard archive: {_UNPACK}"),
    (b"7z\xbc\xaf\x27\x1c", f"a 7-Zip archive: {_UNPACK}"),
    (b"Rar!\x1a\x07", f"a RAR archive: {_UNPACK}"),
    (b"PK\x05\x06", "an empty zip archive"),
    (b"\xff\xfe", "UTF-16 text: save it as UTF-8"),
    (b"\xfe\xff", "UTF-16 text: save it as UTF-8"),
    (b"\x7fELF", "a program or library, not a model"),
    (b"\x89PNG", "a picture, not a model"),
    (b"\xff\xd8\xff", "a picture, not a model"),
    (b"%PDF", "a PDF document, not a model"),
)  # fmt: skip
_AT_4 = {
    b"TFL3": f"a TensorFlow Lite model: {_EXPORT} (tf2onnx reads .tflite)",
    b"ET12": f"an ExecuTorch program: {_EXPORT}",
}


def foreign_file(head: bytes, size: int) -> str:
    """What a file of `size` bytes that starts with `head` is, in words, with what to do; empty if that says nothing."""
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip(b" \t\r\n").lower()
    for magic, what in _STARTS:
        if head.startswith(magic) or (magic.startswith((b"<", b"version")) and start.startswith(magic)):
            return what
    if head[4:8] in _AT_4:
        return _AT_4[head[4:8]]
    if head[257:262] == b"ustar":
        return f"a tar archive: {_UNPACK}"
    if head[8:10] in (b'{"', b"{}", b"{ ") and int.from_bytes(head[:8], "little") + 8 <= size:
        return "a safetensors file, which holds weights only: open the ONNX export of the model"
    return ""


def foreign_message(keys: AbstractSet[int]) -> str:
    """What a protobuf message without a model's graph is, by the keys of its fields; empty if they say nothing."""
    numbers = {key >> 3 for key in keys}
    if is_tensor(keys):
        return "a single tensor (TensorProto), as in test data, not a model: give it to `oinfer run --inputs`"
    if 100 << 3 | LENGTH in keys and 1 << 3 | LENGTH in keys:
        return f"a Caffe model: {_EXPORT}"
    if 1 << 3 | VARINT in keys and any(200 <= number <= 3000 for number in numbers):
        return f"a Core ML model: {_EXPORT}"
    if keys == {1 << 3 | VARINT, 2 << 3 | LENGTH}:
        return f"perhaps a TensorFlow SavedModel: {_EXPORT} (tf2onnx)"
    return ""


def is_tensor(keys: AbstractSet[int]) -> bool:
    """Whether the fields of a message are those of a TensorProto with values."""
    return 2 << 3 | VARINT in keys and bool({key >> 3 for key in keys} & {RAW_DATA, 6, *TYPED_DATA})


def head_of(storage: Storage) -> bytes:
    """The bytes that `foreign_file` looks at."""
    return storage.read(0, min(HEAD, storage.size))
