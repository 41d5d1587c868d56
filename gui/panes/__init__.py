"""The panes: each reads the document, and none knows another."""
