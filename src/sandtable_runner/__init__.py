"""The program inside the sandbox. Standard library and engine only; it imports nothing of `sandtable`."""
