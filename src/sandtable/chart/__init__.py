"""What a result looks like: columns, rows and the question become one Plotly figure, always the same one."""
