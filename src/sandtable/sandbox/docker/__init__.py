"""The Docker tier: every job in a container of its own, on a Docker or Podman engine of this machine."""
