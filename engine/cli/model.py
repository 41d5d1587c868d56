"""The model that a command works on, and how it is opened."""

from __future__ import annotations

import argparse
import gc

from engine.export import spare_sources
from engine.graph.ir import Model
from engine.opening import open_model


def add_model(parser: argparse.ArgumentParser) -> None:
    """Declare the model's path and the options for opening it."""
    parser.add_argument("model", metavar="MODEL")
    parser.add_argument("--allow-external", action="store_true",
                        help="take weights through links that lead out of the model's folder")  # fmt: skip


def open_named(args: argparse.Namespace, writes: str | None = None) -> Model:
    """Open the model that the arguments name; see `open_model`.

    Raises
    ------
    ModelFormatError: as `open_model`.
    ExportError: `writes`, the file that results will go into, is one that the model is read from.
    """
    gc.disable()  # opening makes a million objects that stay, and no garbage
    try:
        model = open_model(args.model, allow_external=args.allow_external)
        gc.freeze()
    finally:
        gc.enable()
    if writes:
        spare_sources(model, writes)
    return model
