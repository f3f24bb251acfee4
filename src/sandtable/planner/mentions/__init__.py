"""Words of a question that may refer to something in the data: names, values and times, whatever table is meant."""
