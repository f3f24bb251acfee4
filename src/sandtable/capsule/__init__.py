"""Verifiable records of runs: the model, its canonical form, its signature, its verification."""
