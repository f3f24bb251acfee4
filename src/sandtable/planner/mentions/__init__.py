"""Which words of a question may speak of something in the data: names, values and times, whatever table is meant."""
