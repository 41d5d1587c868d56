"""Images from their encoded bytes, decoded by Pillow where it is installed (the `images` extra)."""
from __future__ import annotations

import io
from importlib.util import find_spec

import numpy as np

from engine.errors import UnsupportedError
from engine.graph.ir import Node
from engine.kernels.axes import check_allocation
from engine.kernels.registry import KernelContext, kernel

_FORMATS = ("BMP", "JPEG", "JPEG2000", "TIFF", "PNG", "WEBP", "PPM")


def _needs_pillow(node: Node) -> str:
    return "" if find_spec("PIL") else "ImageDecoder needs Pillow: pip install pillow"


@kernel("ImageDecoder", 20, generic=False, accepts=_needs_pillow)
def image_decoder(ctx: KernelContext, stream: np.ndarray, *, pixel_format: str = "RGB") -> np.ndarray:
    """Pixels uint8 [H, W, C] of an image file held by `stream`; [0, 0, C] where it can't be decoded (ImageDecoder 20).

    Raises
    ------
    UnsupportedError: `pixel_format` is none of RGB, BGR, Grayscale. MemoryError: the image would not fit.
    """
    from PIL import Image

    if pixel_format not in ("RGB", "BGR", "Grayscale"):
        raise UnsupportedError(f"pixel_format {pixel_format!r} is none of RGB, BGR, Grayscale")
    grey = pixel_format == "Grayscale"
    channels = 1 if grey else 3
    try:
        with Image.open(io.BytesIO(stream.tobytes()), formats=_FORMATS) as image:
            check_allocation((image.height, image.width, channels), np.dtype(np.uint8))
            pixels = np.array(image.convert("L" if grey else "RGB"))
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError):  # what Pillow raises for broken files
        return np.zeros((0, 0, channels), np.uint8)
    return pixels[:, :, None] if grey else pixels[:, :, ::-1] if pixel_format == "BGR" else pixels
