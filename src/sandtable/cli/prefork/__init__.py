"""A process that has loaded the modules of brief commands, and forks for each command.

Invariant: it holds no data, no key and no connection. It reads neither the arguments nor the environment of a command:
the fork does, and ends with its command.
"""
