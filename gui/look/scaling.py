"""How large the screen's pixels are drawn, as far as the environment says so. Knows no Qt.

Qt takes what it finds there as it is: with 0, or with a word, everything on the screen has no size.
"""

from __future__ import annotations

import os
import sys
from collections.abc import MutableMapping

LEAST, MOST = 0.25, 8.0
NAMES = ("QT_SCALE_FACTOR", "QT_SCREEN_SCALE_FACTORS")


def drop_impossible_scales(environ: MutableMapping[str, str] = os.environ) -> None:
    """Say on stderr which scale factors cannot be drawn with, and go on as if they were not set.

    To be called before the application is made. One variable has a factor, the other one for each screen, apart by
    semicolons and with the screen's name before an equals sign.
    """
    for name in NAMES:
        text = environ.get(name, "")
        factors = (part.rpartition("=")[2] for part in text.split(";"))
        if text and not all(_can_be_drawn(factor) for factor in factors):
            del environ[name]
            if sys.stderr is not None:  # as it is where there is no console
                sys.stderr.write(f"oinfer: {name}={text!r} is left out: a scale is a number from {LEAST} to {MOST:g}\n")


def _can_be_drawn(factor: str) -> bool:
    try:
        return LEAST <= float(factor) <= MOST
    except ValueError:
        return False
