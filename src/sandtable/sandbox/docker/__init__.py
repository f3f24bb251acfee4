"""The Docker tier: every job in its own container, on a Docker or Podman engine of this machine."""
