"""The pages hold to the program: files they name exist, links lead somewhere, commands parse, commands are all told."""

from __future__ import annotations

import argparse
import importlib
import re
import shlex
from pathlib import Path

import pytest

from engine.cli import COMMANDS, window
from engine.cli.parser import Parser

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
FILES = [f"/{file.relative_to(ROOT)}" for folder in ("engine", "gui", "tests", "resources", "packaging", "docs")
         for file in (ROOT / folder, *(ROOT / folder).rglob("*")) if "__pycache__" not in file.parts]  # fmt: skip

NAMED = re.compile(r"`((?:\w+/)*\w+\.py|(?:\w+/)+)(?: [^`]*)?`")
FOLDER = re.compile(r"`((?:engine|gui|tests)(?:/\w+)+)`")
LINK = re.compile(r"\]\(([^)#:]+)\)")
COMMAND = re.compile(r"^oinfer (.+)$", re.MULTILINE)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_files_that_are_named_exist(page: Path) -> None:
    """Where they stand in the text, from the root or within a package."""
    text = page.read_text(encoding="utf-8")
    named = {*NAMED.findall(text), *FOLDER.findall(text)}
    assert sorted(name for name in named if not any(file.endswith(f"/{name.rstrip('/')}") for file in FILES)) == []
    assert [link for link in LINK.findall(text) if not (page.parent / link).exists()] == []


def examples() -> list[str]:
    """Every line of a code block that begins with `oinfer`, its continuation joined."""
    blocks = (block for page in PAGES for block in re.findall(r"```\n(.*?)```", page.read_text("utf-8"), re.DOTALL))
    return [line for block in blocks for line in COMMAND.findall(block.replace("\\\n", " "))]


@pytest.mark.parametrize("line", examples())
def test_commands_parse(line: str) -> None:
    name, *arguments = shlex.split(line, comments=True)
    parser = Parser(prog=f"oinfer {name}")
    if name in COMMANDS:
        importlib.import_module(f"engine.cli.{name}").add_arguments(parser)
        parser.add_argument("--json", action="store_true")
    else:
        window.add_arguments(parser)
        arguments.insert(0, name)
    assert isinstance(parser.parse_args(arguments), argparse.Namespace)


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_and_option_is_told(name: str) -> None:
    page = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    assert f"`oinfer {name} " in page
    parser = Parser(prog=name)
    importlib.import_module(f"engine.cli.{name}").add_arguments(parser)
    options = {option for action in parser._actions for option in action.option_strings if option.startswith("--")}
    assert sorted(option for option in options - {"--help"} if option not in page) == []
