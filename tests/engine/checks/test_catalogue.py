"""Every code is in the catalogue, every code of the catalogue is used, and the documentation says the same."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from engine.diagnostics import CATALOGUE, GROUP_LIMIT, Diagnostic, Severity, grouped, in_function

ROOT = Path(__file__).resolve().parents[3]
MAKERS = {
    "Diagnostic", "DataError", "report", "report_once", "_report", "_report_clash", "warn", "add", "_add", "_form",
}  # fmt: skip


def test_codes_that_the_source_makes_are_those_of_the_catalogue() -> None:
    """By the first string that looks like a code among the arguments of every call that makes findings."""
    used: set[str] = set()
    for file in (ROOT / "engine").rglob("*.py"):
        for call in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(call, ast.Call) and name_of(call) in MAKERS:
                texts = [a.value for a in call.args if isinstance(a, ast.Constant) and isinstance(a.value, str)]
                used.update(text for text in texts[:2] if re.fullmatch(r"[a-z]+(-[a-z0-9]+)+|unsorted|cycle", text))
    used.add("bad-data")  # the default of DataError
    assert used == CATALOGUE.keys()


def name_of(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def test_the_documentation_is_the_catalogue() -> None:
    text = (ROOT / "docs" / "diagnostics.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `([a-z0-9-]+)` \| (\w+) \| (.*) \| (.*) \|$", text, re.MULTILINE)
    assert rows == [(code, r.severity.value, r.title, r.hint) for code, r in CATALOGUE.items()]


def test_titles_and_hints_are_sentences_for_people() -> None:
    for code, rule in CATALOGUE.items():
        assert rule.title[0].isupper() or rule.title.startswith("value_info"), code
        assert not rule.title.endswith("."), code
        assert rule.hint.endswith("."), code
        assert "|" not in rule.title + rule.hint, code


def test_unknown_codes_have_no_hint_but_their_name() -> None:
    finding = Diagnostic("of-a-plugin", Severity.INFO, "something")
    assert (finding.title, finding.hint) == ("of-a-plugin", "")


def test_groups_are_by_severity_and_code() -> None:
    made = [Diagnostic("cycle", Severity.ERROR, str(i)) for i in range(500)]
    made.insert(0, Diagnostic("unsorted", Severity.WARNING, "w"))
    made.append(Diagnostic("cycle", Severity.WARNING, "milder"))
    groups = grouped(made)
    assert [(g.code, g.severity.value, len(g.first), g.rest) for g in groups] == [
        ("cycle", "error", GROUP_LIMIT, 480), ("unsorted", "warning", 1, 0), ("cycle", "warning", 1, 0),
    ]  # fmt: skip
    assert sorted(d.message for g in groups for d in g.findings) == sorted(d.message for d in made)


def test_findings_about_an_uncalled_function_have_no_place() -> None:
    (finding,) = in_function([Diagnostic("cycle", Severity.ERROR, "a → a", "a", "t")], "F")
    assert finding == Diagnostic("cycle", Severity.ERROR, "in the function 'F': a → a")
