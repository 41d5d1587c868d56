"""What the program ships beside its code: icons, styles and the sample models it can always open."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

SAMPLE_MODEL = "models/sample_cnn.onnx"
CONTROL_FLOW_MODEL = "models/sample_control_flow.onnx"
APP_ICON = "icons/oinfer.svg"


def path(name: str) -> Path:
    """Path of a resource on disk, such as ``path(SAMPLE_MODEL)``; from source and in a frozen build alike.

    Raises
    ------
    FileNotFoundError
        The program was shipped without this resource.
    """
    found = Path(str(files(__name__).joinpath(name)))
    if not found.exists():
        raise FileNotFoundError(f"resource {name} is missing from {found.parent}; reinstall OInfer")
    return found
