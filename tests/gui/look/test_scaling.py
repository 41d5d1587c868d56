"""Scale factors of the environment that nothing can be drawn with."""

from __future__ import annotations

import pytest

from gui.look.scaling import drop_impossible_scales


@pytest.mark.parametrize("text", ["0", "-2", "1e9", "nan", "inf", "large", "0.001"])
def test_what_cannot_be_drawn_with_is_said_and_left_out(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    environ = {"QT_SCALE_FACTOR": text, "QT_SCREEN_SCALE_FACTORS": f"1;DP-2={text}", "HOME": "/"}
    drop_impossible_scales(environ)
    assert environ == {"HOME": "/"}
    said = capsys.readouterr().err.splitlines()
    assert [line.split("=")[0] for line in said] == ["oinfer: QT_SCALE_FACTOR", "oinfer: QT_SCREEN_SCALE_FACTORS"]


def test_what_can_be_drawn_with_stays(capsys: pytest.CaptureFixture[str]) -> None:
    environ = {"QT_SCALE_FACTOR": "1.5", "QT_SCREEN_SCALE_FACTORS": "1;DP-2=2"}
    drop_impossible_scales(environ)
    drop_impossible_scales(nothing := {"QT_SCALE_FACTOR": ""})
    assert environ == {"QT_SCALE_FACTOR": "1.5", "QT_SCREEN_SCALE_FACTORS": "1;DP-2=2"}
    assert nothing == {"QT_SCALE_FACTOR": ""}
    assert capsys.readouterr().err == ""
