"""Files of vectors that are no models: word2vec, GloVe, fastText, Embedding Projector, arrays, tables."""
