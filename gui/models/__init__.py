"""Item models over the engine's graph: rows on demand, no widget per row."""
