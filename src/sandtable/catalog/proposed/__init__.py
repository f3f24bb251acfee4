"""What is proposed about a dataset from its data: meanings of columns, keys, joins, metrics and masks."""
