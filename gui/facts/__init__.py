"""What the panes say of a model, its operators and its tensors. Knows no Qt."""
