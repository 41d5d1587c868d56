"""``oinfer render``: the graph as a picture, without a display."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from engine.cli.inputs import add_dim, sizes
from engine.cli.model import add_model, open_named
from engine.cli.output import escape, print_json, require_folder
from engine.cli.window import qt_needed
from engine.errors import EngineError, InputError
from engine.words import bytes_text

_ENDINGS = (".svg", ".png", ".pdf")
MAX_SCALE = 100


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    add_model(parser)
    parser.add_argument("picture", metavar="OUT", help="the picture to write, .svg, .png or .pdf")
    parser.add_argument("--dark", action="store_true", help="light lines on dark ground")
    parser.add_argument("--grouped", action="store_true", help="modules as closed boxes instead of every node")
    parser.add_argument("--horizontal", action="store_true", help="the flow goes to the right instead of down")
    parser.add_argument("--names", action="store_true", help="the names of nodes and tensors too")
    parser.add_argument("--netron", action="store_true", help="in Netron's colours, with its titles")
    add_dim(parser)
    parser.add_argument("--scale", type=_scale, metavar="S",
                        help="pixels to a pixel of the drawing, PNG only (default 2, less for very large graphs)")


def _scale(text: str) -> float:
    """A scale: a number above 0, and none so large that no picture is."""
    try:
        scale = float(text)
    except ValueError:
        scale = 0.0
    if not 0 < scale <= MAX_SCALE:
        raise argparse.ArgumentTypeError(f"{text!r} is no number above 0, {MAX_SCALE} at most")
    return scale


def execute(args: argparse.Namespace) -> int:
    """Write the picture."""
    target = Path(args.picture)
    if target.suffix.lower() not in _ENDINGS:
        raise InputError(f"{target}: a picture ends in {', '.join(_ENDINGS)}")
    require_folder(target)
    model = open_named(args, writes=args.picture)
    given = sizes(model, args)
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    with qt_needed():
        from gui.canvas.scene import SceneOptions
        from gui.output.render import render
    try:
        options = SceneOptions(horizontal=args.horizontal, names=args.names, netron=args.netron,
                               label="both" if args.names else "shape")  # fmt: skip
        note = render(model, target, dark=args.dark, options=options, scale=args.scale, grouped=args.grouped,
                      sizes=given)  # fmt: skip
    except OSError as error:
        raise EngineError(f"{target} cannot be written: {error.strerror or error}") from error
    size = target.stat().st_size
    if args.json:
        print_json({"path": str(target), "nbytes": size, "note": note})
    else:
        print(f"{escape(str(target))}: {bytes_text(size)}" + (f"; {note}" if note else ""))
    return 0
