"""The server: one adapter per protocol over the assembled parts. An adapter only translates."""
