"""What happened, provably: the record of a run, its canonical form, its signature, its verification."""
