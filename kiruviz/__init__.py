"""KiruViz: look inside a language model's embeddings."""

__version__ = "0.1.0"
