"""Small widgets that know neither the document nor the engine."""
