"""The planner's index of a dataset: names, columns and values prepared for lookup, and which plans fit it."""
