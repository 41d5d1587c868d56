"""What menus share."""

from __future__ import annotations

from PySide6.QtWidgets import QMenu


def clear_menu(menu: QMenu) -> None:
    """Empty a menu that is filled anew each time; Qt would keep its submenus."""
    inner = [action.menu() for action in menu.actions()]
    menu.clear()
    for one in inner:
        if isinstance(one, QMenu):
            one.deleteLater()
