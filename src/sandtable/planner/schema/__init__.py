"""What the planner knows of a dataset: names, columns and values made ready for questions, and which plans fit it."""
