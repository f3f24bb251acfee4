"""The program inside the sandbox. Standard library and engine only; it knows nothing of `sandtable`."""
