"""What a model is fed: sizes for its symbolic dims, generated inputs, inputs from files, and their checks.

Call `engine.infer(model)` first: the inferred types of the graph inputs carry a symbol for every unknown dim.
"""

from engine.feeds.check import check_feeds, name_feeds
from engine.feeds.dims import (
    SymbolUse,
    bound_dims,
    declared_names,
    default_dims,
    fit_dims,
    input_shape,
    required_inputs,
    symbols,
)
from engine.feeds.files import load_arrays, load_feeds, save_arrays
from engine.feeds.generate import default_specs, make_feeds
from engine.feeds.specs import KINDS, InputSpec, default_spec

__all__ = [
    "KINDS", "InputSpec", "SymbolUse", "bound_dims", "check_feeds", "declared_names", "default_dims", "default_spec",
    "default_specs", "fit_dims", "input_shape", "load_arrays", "load_feeds", "make_feeds", "name_feeds",
    "required_inputs", "save_arrays", "symbols",
]  # fmt: skip
