"""Finding things in a model: the query language, and names that come near."""
