"""The commands of the File menu that concern the model as a whole: another model beside it, files made from it."""

from __future__ import annotations

from gui.command import Command, has_model

COMPARE_COMMANDS = (
    Command("compare_with", "File", "Compare &With…", lambda w: w.compare_dialog(), ["Ctrl+D"], has_model),
)
