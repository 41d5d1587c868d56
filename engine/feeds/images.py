"""A picture as a model's input: resized to its height and width, its pixels scaled, its axes in the model's order."""

from __future__ import annotations

import numpy as np

from engine.dtypes import DType
from engine.errors import InputError
from engine.graph.types import format_shape

SCALINGS = ("", "255", "signed", "imagenet")
"""Of pixels for float inputs: 0 to 1, 0 to 255, -1 to 1, and 0 to 1 less the mean over the deviation of ImageNet's
channels. Integers are 0 to 255 in any case."""

_MEAN = np.array([0.485, 0.456, 0.406], np.float32)  # torchvision's, of red, green and blue
_DEVIATION = np.array([0.229, 0.224, 0.225], np.float32)
_MODES = {1: "L", 3: "RGB", 4: "RGBA"}


def load_image(path: str, scaling: str, name: str, dtype: DType, shape: tuple[int, ...]) -> np.ndarray:
    """The picture as an array of `shape`, [N, C, H, W], [N, H, W, C] or either without N; each of N the same.

    Raises
    ------
    InputError: the shape is not an image's, the file cannot be read, or Pillow is not installed.
    """
    if scaling not in SCALINGS:
        raise InputError(f"{scaling!r} scales no pixels; use {', '.join(s for s in SCALINGS if s)} or none", name)
    channels_at = _channel_axis(shape)
    if channels_at is None or dtype.kind not in ("float", "int", "uint"):
        raise InputError(f"input {name!r} ({dtype}{format_shape(shape)}) does not hold pictures", name)
    channels = shape[channels_at]
    height, width = (size for axis, size in enumerate(shape) if axis >= len(shape) - 3 and axis != channels_at)
    pixels = _read(path, _MODES[channels], width, height).reshape(height, width, channels).astype(np.float32)
    if dtype.kind == "float":
        pixels = _scaled(pixels, scaling, channels, name)
    if channels_at == len(shape) - 3:
        pixels = pixels.transpose(2, 0, 1)
    return np.array(np.broadcast_to(pixels, shape).astype(dtype.numpy))


def _channel_axis(shape: tuple[int, ...]) -> int | None:
    """Which axis counts channels: the first of the last three, or the last."""
    if len(shape) not in (3, 4) or 0 in shape:
        return None
    return next((axis for axis in (len(shape) - 3, len(shape) - 1) if shape[axis] in _MODES), None)


def _scaled(pixels: np.ndarray, scaling: str, channels: int, name: str) -> np.ndarray:
    if scaling == "255":
        return pixels
    if scaling == "signed":
        return pixels / np.float32(127.5) - np.float32(1)
    if scaling == "imagenet":
        if channels != 3:
            raise InputError(f"input {name!r} has {channels} channels, and ImageNet's scaling is for three", name)
        return np.asarray((pixels / np.float32(255) - _MEAN) / _DEVIATION, np.float32)
    return pixels / np.float32(255)


def _read(path: str, mode: str, width: int, height: int) -> np.ndarray:
    try:
        from PIL import Image, UnidentifiedImageError
    except ImportError as error:
        raise InputError("Pillow, which reads pictures, is not installed: pip install 'oinfer[images]'") from error
    try:
        with Image.open(path) as image:
            return np.asarray(image.convert(mode).resize((width, height), Image.Resampling.BILINEAR))
    except FileNotFoundError as error:
        raise InputError(f"{path} does not exist") from error
    except (OSError, UnidentifiedImageError, Image.DecompressionBombError) as error:
        raise InputError(f"{path} is no picture that can be read: {error}") from error
