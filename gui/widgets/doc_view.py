"""Documentation as text to read: blocks laid out by character formats alone, so that nothing in it is ever markup."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Slot
from PySide6.QtGui import QFont, QTextBlockFormat, QTextCharFormat, QTextCursor
from PySide6.QtWidgets import QFrame, QTextEdit

from gui.facts.markup import Block, BlockKind
from gui.look.theme import Theme, mono_font, on_theme, theme_manager, ui_font

_INDENT = 16


class DocView(QTextEdit):
    """Shows blocks; can be searched by eye, selected and copied, not edited."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self._blocks: Sequence[Block] = ()
        self.setAccessibleName(name)
        self.setReadOnly(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setTabChangesFocus(True)
        self.document().setDocumentMargin(12)
        on_theme(self._set_theme)

    def set_blocks(self, blocks: Sequence[Block]) -> None:
        """Show blocks from their beginning."""
        self._blocks = blocks
        self._write()

    def _write(self) -> None:
        self.clear()
        cursor = QTextCursor(self.document())
        cursor.beginEditBlock()
        theme = theme_manager().theme
        for place, block in enumerate(self._blocks):
            layout = _layout(block.kind, place == 0)
            if place:
                cursor.insertBlock(layout, QTextCharFormat())
            else:
                cursor.setBlockFormat(layout)
            self._insert(cursor, block, theme)
        cursor.endEditBlock()
        self.moveCursor(QTextCursor.MoveOperation.Start)

    def _insert(self, cursor: QTextCursor, block: Block, theme: Theme) -> None:
        text, muted = _format(ui_font(), theme, "text"), _format(ui_font(), theme, "muted")
        mono = _format(mono_font(), theme, "text")
        match block.kind:
            case BlockKind.TITLE:
                cursor.insertText(block.text, _format(_bold(1.3), theme, "text"))
                cursor.insertText(f"   {block.note}", muted)
            case BlockKind.HEADING:
                cursor.insertText(block.text, _format(_bold(1.0), theme, "muted"))
            case BlockKind.TERM:
                cursor.insertText(block.text, _format(mono_font(1.0), theme, "accent"))
                cursor.insertText(f"   {block.note}" if block.note else "", muted)
            case BlockKind.CODE:
                cursor.insertText(block.text.replace("\n", "\u2028"), mono)
            case _:
                cursor.insertText("• " if block.kind is BlockKind.ITEM else "", muted)
                for place, part in enumerate(block.text.split("`")):
                    cursor.insertText(part, mono if place % 2 else text)

    @Slot(object)
    def _set_theme(self, _theme: Theme) -> None:
        at = self.verticalScrollBar().value()
        self._write()
        self.verticalScrollBar().setValue(at)


def _layout(kind: BlockKind, first: bool) -> QTextBlockFormat:
    layout = QTextBlockFormat()
    above = {BlockKind.HEADING: 14, BlockKind.TERM: 8, BlockKind.ITEM: 2}.get(kind, 5)
    layout.setTopMargin(0 if first else above)
    layout.setLineHeight(112, QTextBlockFormat.LineHeightTypes.ProportionalHeight.value)
    if kind is BlockKind.ITEM:
        layout.setLeftMargin(_INDENT)
        layout.setTextIndent(-_INDENT / 2)
    elif kind is BlockKind.CODE:
        layout.setLeftMargin(_INDENT)
    return layout


def _format(font: QFont, theme: Theme, role: str) -> QTextCharFormat:
    look = QTextCharFormat()
    look.setFont(font)
    look.setForeground(theme.colour(role))
    return look


def _bold(scale: float) -> QFont:
    font = ui_font(scale)
    font.setBold(True)
    return font
