"""The command line: ``oinfer [MODEL]`` opens the window, the subcommands work without a display and without Qt."""

from __future__ import annotations

import argparse
import contextlib
import errno
import gc
import importlib
import os
import sys
from collections.abc import Sequence

from engine.cli.output import escape, print_json
from engine.cli.parser import Parser, UsageError
from engine.errors import EngineError, InputError, ModelFormatError
from engine.words import meant

COMMANDS = {
    "inspect": "metadata, fusion, run order, shapes, operators, parameters",
    "check": "what is wrong with a model; exit status 1 if any finding is an error",
    "run": "run a model on generated inputs or on those of a file",
    "compare": "time the chosen providers against CPU only, and hold their outputs together",
    "diff": "what changed from one model to another; exit status 1 if anything but names differs",
    "export": "write a model or a part of it as an .onnx file",
    "render": "draw the graph as .svg, .png or .pdf",
}

# A report on a large model is many objects and no garbage; at the default a collection would walk them several times.
COLLECT_AFTER = (500_000, 20, 50)

FAILED, USAGE, INTERRUPTED, BROKEN_PIPE = 1, 2, 130, 141
_WRITE_FAILURES = {errno.EPIPE, errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF}
MAX_MESSAGE = 2000  # characters of an error for people: it may quote names and shapes of any length


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit status: 0, 1 for a run or check that failed, 2 for wrong use or a bad file."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    gc.set_threshold(*COLLECT_AFTER)
    sys.stdout = sys.stdout or open(os.devnull, "w")  # noqa: SIM115 - closed by whoever started us
    sys.stderr = sys.stderr or open(os.devnull, "w")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")  # names hold what the terminal's encoding may lack
    try:
        return _run_and_tell(arguments)
    except KeyboardInterrupt:
        return INTERRUPTED
    except OSError as error:
        return _without_output(error)
    finally:
        gc.unfreeze()  # what `engine.cli.model` set apart, for callers within a longer process


def _run_and_tell(arguments: list[str]) -> int:
    """Run one command and tell what failed; whatever was printed has been written at the end.

    Raises
    ------
    OSError: what is printed cannot be written.
    """
    as_json = "--json" in arguments
    try:
        status = _dispatch(arguments)
    except EngineError as error:
        status = _report(error, as_json)
    except MemoryError as error:
        status = _report(EngineError(f"out of memory: {error or 'the run needs more than this machine has'}"), as_json)
    except Exception as error:
        if _is_of_output(error) or os.environ.get("OINFER_DEBUG"):
            raise
        told = f"{type(error).__name__}: {error}"
        status = _report(EngineError(f"a fault of OInfer's own ({told}); OINFER_DEBUG=1 shows where"), as_json)
    finally:  # after --help too, which ends the program
        sys.stdout.flush()
    return status


def _is_of_output(error: Exception) -> bool:
    """Whether printing failed: all that opens files says which one, and tells of its failures itself."""
    return isinstance(error, OSError) and error.filename is None and error.errno in _WRITE_FAILURES


def _without_output(error: OSError) -> int:
    """Give up standard output, so that what is still buffered does not fail again at exit; the exit status."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if isinstance(error, BrokenPipeError):  # whoever read our output has left, and needs no words
        return BROKEN_PIPE
    with contextlib.suppress(OSError):
        print(f"oinfer: the output cannot be written: {error.strerror}", file=sys.stderr)
    return FAILED


def _report(error: EngineError, as_json: bool) -> int:
    """One line on standard error, and with --json an object on standard output."""
    if as_json:
        body: dict[str, object] = {"kind": type(error).__name__, "message": str(error)}
        places = ("offset", "field", "input_name", "node")
        body.update({key: value for key in places if (value := getattr(error, key, None))})
        print_json({"error": body})
    told = str(error)
    print(f"oinfer: {escape(told[:MAX_MESSAGE])}{'…' * (len(told) > MAX_MESSAGE)}", file=sys.stderr)
    return USAGE if isinstance(error, UsageError | ModelFormatError | InputError) else FAILED


def _dispatch(arguments: list[str]) -> int:
    if arguments and arguments[0] in COMMANDS:
        name = arguments[0]
        command = importlib.import_module(f"engine.cli.{name}")
        parser = Parser(prog=f"oinfer {name}", description=COMMANDS[name][0].upper() + COMMANDS[name][1:] + ".")
        command.add_arguments(parser)
        parser.add_argument("--json", action="store_true", help="print one JSON object (docs/cli.md names its keys)")
        return int(command.execute(parser.parse_args(arguments[1:])))
    if arguments and not arguments[0].startswith("-") and not os.path.lexists(arguments[0]):
        raise UsageError(_neither(arguments[0]))
    from engine.cli import window

    parser = Parser(
        prog="oinfer",
        description="Open an ONNX model in a window, or work on it from the command line.",
        epilog="commands:\n" + "\n".join(f"  {name:10}{what}" for name, what in COMMANDS.items())
        + "\n\n'oinfer COMMAND --help' tells a command's options.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    window.add_arguments(parser)
    return window.execute(parser.parse_args(arguments))


def _neither(word: str) -> str:
    """What to say of a first word that names no command and no file."""
    if os.path.dirname(word) or os.path.splitext(word)[1]:
        return f"{word}: there is no such file"
    return f"{word!r} is neither a command nor a file{meant(word, COMMANDS) or '; commands: ' + ', '.join(COMMANDS)}"
