"""Where the user puts nodes: the part of a menu that the canvas, the lists and the Run pane share."""

from __future__ import annotations

from functools import partial

from PySide6.QtGui import QActionGroup
from PySide6.QtWidgets import QMenu

from engine.graph.ir import Node, Tensor
from engine.providers.overrides import override_keys
from gui.document import Document
from gui.text import one_line

BY_ORDER = "As Ordered"


def add_placement(menu: QMenu, document: Document, item: object) -> None:
    """Offer the providers of the next run for a node, or for a tensor's producer, and for all nodes of its operator."""
    node = item.producer if isinstance(item, Tensor) else item
    if isinstance(node, Node):
        own, every = override_keys(node)
        _add_choices(menu, document, f"Run {one_line(node.name, 40)} On", own)
        _add_choices(menu, document, f"Run Every {one_line(node.qualified_op, 40)} On", every)


def _add_choices(menu: QMenu, document: Document, title: str, key: str) -> None:
    inner = menu.addMenu(title.replace("&", "&&"))
    group = QActionGroup(inner)
    for name in (None, *document.providers):
        action = inner.addAction(name or BY_ORDER)
        action.setCheckable(True)
        action.setChecked(document.overrides.get(key) == name)
        action.triggered.connect(partial(_place, document, key, name))
        group.addAction(action)


def _place(document: Document, key: str, provider: str | None, _checked: bool = False) -> None:
    document.set_overrides({other: name for other, name in document.overrides.items() if other != key}
                           | ({key: provider} if provider is not None else {}))  # fmt: skip
