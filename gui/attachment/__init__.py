"""Files beside a model that say something of its nodes and tensors: read, shown, and written for Netron."""
