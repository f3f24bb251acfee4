"""What people say about a dataset: names, units, synonyms, joins, metrics; kept in versions that capsules name."""
