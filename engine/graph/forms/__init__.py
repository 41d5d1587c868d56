"""The forms a model file can come in besides a serialised ModelProto, told by content, and what is no model at all."""
