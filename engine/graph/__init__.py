"""The intermediate representation: models, graphs, nodes, tensors, and how a file becomes one."""
