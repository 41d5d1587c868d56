"""``oinfer [MODEL]`` and ``oinfer --smoke``: the window. Qt is loaded here and nowhere else in the engine."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import metadata

from engine.cli.parser import UsageError
from engine.errors import EngineError, ModelFormatError

_QT = {"PySide6", "shiboken6"}
_OURS = {"engine", "gui", "resources"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("model", metavar="MODEL", nargs="?", help="the .onnx file to open")
    parser.add_argument("--smoke", action="store_true",
                        help="open the real window on MODEL or a sample, run it, say how long each phase took, exit")
    parser.add_argument("--picture", metavar="OUT.png", help="with --smoke: grab the window into this file")
    parser.add_argument("--flat", action="store_true", help="with --smoke: every node by itself, no modules")
    parser.add_argument("--view", action="store_true", help="with --smoke: measure the drawing, don't run the model")
    parser.add_argument("--json", action="store_true", help="with --smoke: print one JSON object")
    parser.add_argument("--version", action="version", version=f"oinfer {version()}")  # fmt: skip


def execute(args: argparse.Namespace) -> int:
    """Open the window, or try it out; returns the program's exit status."""
    if args.model and not os.path.lexists(args.model):
        raise ModelFormatError(f"{args.model}: there is no such file")
    if args.smoke:
        os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
        return smoke(args)
    if args.picture or args.json or args.flat or args.view:
        raise UsageError("--picture, --json, --flat and --view go with --smoke")
    if sys.platform == "linux" and not any(map(os.environ.get, ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"))):
        raise EngineError("there is no display: DISPLAY and WAYLAND_DISPLAY are empty. Start it in a desktop session "
                          "or over ssh -X; inspect, check, run, compare and render need none")  # fmt: skip
    with qt_needed():
        from gui.app import main
    return int(main([args.model] if args.model else []))


def smoke(args: argparse.Namespace) -> int:
    """Drive the real window once."""
    with qt_needed():
        from gui.measuring.smoke import main
    return int(main(args.model, args.picture, args.json, args.flat, args.view))


@contextmanager
def qt_needed() -> Iterator[None]:
    """Around imports of the window: says what to do where a package it needs, or what Qt links to, is missing.

    Raises
    ------
    EngineError: Qt or another package cannot be imported. A fault in modules of OInfer's own stays what it is.
    """
    try:
        yield
    except ImportError as error:
        package = (error.name or "").partition(".")[0]
        if package in _OURS:
            raise
        raise EngineError(f"the window cannot open{_why(error, package)}") from error


def _why(error: ImportError, package: str) -> str:
    if isinstance(error, ModuleNotFoundError):
        return f": the Python package {package!r} is not installed; install it with: pip install oinfer"
    if package in _QT:
        return (f", since Qt cannot load: {error}; on Debian: "
                "apt-get install libegl1 libgl1 libxkbcommon0 libfontconfig1 libdbus-1-3")  # fmt: skip
    return f": {error}"


def version() -> str:
    """The program's version, as it was installed."""
    try:
        return metadata.version("oinfer")
    except metadata.PackageNotFoundError:
        return "(not installed)"
