"""``oinfer render``: the graph as a picture, without a display."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from engine.cli.model import add_model, open_named
from engine.cli.output import escape, print_json, size_text
from engine.errors import EngineError, InputError

_ENDINGS = (".svg", ".png", ".pdf")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    add_model(parser)
    parser.add_argument("picture", metavar="OUT", help="the picture to write, .svg, .png or .pdf")
    parser.add_argument("--dark", action="store_true", help="light lines on dark ground")


def execute(args: argparse.Namespace) -> int:
    """Write the picture."""
    target = Path(args.picture)
    if target.suffix.lower() not in _ENDINGS:
        raise InputError(f"{target}: a picture ends in {', '.join(_ENDINGS)}")
    if not target.absolute().parent.is_dir():
        raise InputError(f"{target}: the folder {target.absolute().parent} does not exist")
    model = open_named(args)
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    try:
        from gui.render import render
    except ImportError as error:
        from engine.cli.window import no_qt

        raise no_qt(error) from error
    try:
        note = render(model, target, dark=args.dark)
    except OSError as error:
        raise EngineError(f"{target} cannot be written: {error.strerror or error}") from error
    size = target.stat().st_size
    if args.json:
        print_json({"path": str(target), "nbytes": size, "note": note})
    else:
        print(f"{escape(str(target))}: {size_text(size)}" + (f"; {note}" if note else ""))
    return 0
