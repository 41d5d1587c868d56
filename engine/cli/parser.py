"""Argument parsers whose errors are one line, and name what was meant."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import IO, Any

from engine.errors import EngineError
from engine.words import meant


class UsageError(EngineError):
    """The command line itself is wrong."""


class Parser(argparse.ArgumentParser):
    """An argument parser that raises `UsageError`; options are written out, so that a misspelled one is noticed."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(allow_abbrev=False, **settings)

    def error(self, message: str) -> None:  # type: ignore[override]
        raise UsageError(f"{message} (see {self.prog} --help)")

    def _print_message(self, message: str, file: IO[str] | None = None) -> None:  # type: ignore[override]
        """Print help; argparse itself keeps silent where that fails."""
        (file or sys.stderr).write(message)

    def parse_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> argparse.Namespace:
        """All arguments, or an error that says which option is nearest to one that is not known."""
        parsed, unknown = self.parse_known_args(args, namespace)
        if unknown:
            option = next((text.partition("=")[0] for text in unknown if text.startswith("-")), "")
            self.error(f"unrecognized arguments: {' '.join(unknown)}{meant(option, self._option_string_actions)}")
        return parsed
