"""An IPython kernel inside the sandbox, for notebooks of other programs, over sockets that it was given."""
