"""``oinfer [MODEL]`` and ``oinfer --smoke``: the window. Qt is loaded here and nowhere else in the engine."""

from __future__ import annotations

import argparse
import os
import sys
from importlib import metadata
from pathlib import Path

from engine.errors import EngineError, ModelFormatError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("model", metavar="MODEL", nargs="?", help="the .onnx file to open")
    parser.add_argument("--smoke", action="store_true",
                        help="open the real window on MODEL or a sample, run it, say how long each phase took, exit")
    parser.add_argument("--picture", metavar="OUT.png", help="with --smoke: grab the window into this file")
    parser.add_argument("--flat", action="store_true", help="with --smoke: every node by itself, no modules")
    parser.add_argument("--view", action="store_true", help="with --smoke: measure the drawing, don't run the model")
    parser.add_argument("--json", action="store_true", help="with --smoke: print one JSON object")
    parser.add_argument("--version", action="version", version=f"oinfer {_version()}")  # fmt: skip


def execute(args: argparse.Namespace) -> int:
    """Open the window, or try it out; returns the program's exit status."""
    if args.model and not Path(args.model).exists():
        raise ModelFormatError(f"{args.model}: there is no such file")
    if args.smoke:
        os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
        return smoke(args)
    if args.picture or args.json or args.flat or args.view:
        raise ModelFormatError("--picture, --json, --flat and --view go with --smoke")
    if sys.platform == "linux" and not any(map(os.environ.get, ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"))):
        raise EngineError("there is no display: DISPLAY and WAYLAND_DISPLAY are empty. Start it in a desktop session "
                          "or over ssh -X; inspect, check, run, compare and render need none")  # fmt: skip
    try:
        from gui.app import main
    except ImportError as error:
        raise no_qt(error) from error
    return int(main([args.model] if args.model else []))


def smoke(args: argparse.Namespace) -> int:
    """Drive the real window once."""
    try:
        from gui.smoke import main
    except ImportError as error:
        raise no_qt(error) from error
    return int(main(args.model, args.picture, args.json, args.flat, args.view))


def no_qt(error: ImportError) -> EngineError:
    """The error that says why the window cannot open, and what to do."""
    if isinstance(error, ModuleNotFoundError) and error.name:
        return EngineError(f"the window cannot open: the Python package {error.name.split('.')[0]!r} is not installed; "
                           "install it with: pip install oinfer")  # fmt: skip
    return EngineError(f"the window cannot open, since Qt cannot load: {error}; on Debian: "
                       "apt-get install libegl1 libgl1 libxkbcommon0 libfontconfig1 libdbus-1-3")  # fmt: skip


def _version() -> str:
    try:
        return metadata.version("oinfer")
    except metadata.PackageNotFoundError:
        return "(not installed)"
