"""What weighs candidates against each other: readings from several tables, and the grammar against the lookup."""
