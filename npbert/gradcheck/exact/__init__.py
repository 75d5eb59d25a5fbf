"""The proof: exact numbers on which a layer's code runs unchanged."""
