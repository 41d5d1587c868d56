"""Widgets of the panes that start a run and show what it left behind."""
