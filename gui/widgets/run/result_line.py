"""The result of a comparison: times, speed-up and verdict in one line, who ran what and how in a second one."""
from __future__ import annotations

from html import escape

from PySide6.QtCore import Qt, Slot
from PySide6.QtWidgets import QLabel, QSizePolicy, QVBoxLayout, QWidget

from gui.look.theme import Theme, on_theme, theme_manager, ui_font
from gui.running.report import Report
from gui.widgets.elided_label import ElidedLabel
from gui.widgets.flow_layout import FlowLayout
from gui.widgets.tips import set_tip

BETWEEN = 3  # px, of the two lines


class ResultLine(QWidget):
    """Hidden while there is no result; who shows it keeps `room` free, so that nothing moves when there is one."""

    def __init__(self, scale: float = 1.08) -> None:
        super().__init__()
        self._report: Report | None = None
        self.headline = QLabel("<b>&nbsp;</b>")  # as high as it will be
        self.headline.setTextFormat(Qt.TextFormat.RichText)  # the numbers and words are ours, not a model's
        self.headline.setFont(ui_font(scale))
        self.headline.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.verdict = ElidedLabel(width=QSizePolicy.Policy.Maximum)
        self.details = ElidedLabel(role="muted")
        first = FlowLayout(spacing=14)
        first.addWidget(self.headline)
        first.addWidget(self.verdict)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(BETWEEN)
        layout.addLayout(first)
        layout.addWidget(self.details)
        on_theme(self._set_theme)

    @property
    def room(self) -> int:
        """Height in px of a result whose words have room on two lines."""
        return self.headline.sizeHint().height() + BETWEEN + self.details.sizeHint().height()

    def set_report(self, report: Report | None) -> None:
        """Show a result, or nothing."""
        self._report = report
        self._set_theme(theme_manager().theme)

    @Slot(object)
    def _set_theme(self, theme: Theme) -> None:
        report = self._report
        self.setVisible(report is not None)
        if report is None:
            return
        colour, weight = theme.good if report.faster else theme.muted, "normal" if report.same else "bold"
        self.headline.setText(
            f"<b>{escape(report.mixed)}</b> · {escape(report.cpu_only)} · "
            f"<span style='color:{colour}; font-weight:{weight}'>{escape(report.speedup)}</span>"
        )
        self.verdict.setText(report.verdict)
        self.verdict.set_role("error" if not report.agrees else "good" if report.finite else "warning")
        self.details.setText(report.details)
        set_tip(self.details, "\n".join(filter(None, (report.details, report.refusals))))
