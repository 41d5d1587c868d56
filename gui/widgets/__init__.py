"""Widgets that panes are made of. They know no pane."""
