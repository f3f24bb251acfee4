"""The learned reader: question and dataset as pieces, a network that writes sketches, and sketches as plans."""
