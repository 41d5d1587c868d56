"""Execution providers: who computes a node, apart from what the node means."""
