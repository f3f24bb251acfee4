"""Charts: columns, rows and the question become one Plotly figure, deterministically."""
