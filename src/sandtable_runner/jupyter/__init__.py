"""An IPython kernel inside the sandbox: for people who bring their own notebook, over sockets it did not make."""
