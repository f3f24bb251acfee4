"""The whole environment of a process that makes sandboxes, on every tier: it inherits nothing from the server."""

from __future__ import annotations

SQL = {
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "HOME": "/",
    "LANG": "C.UTF-8",
    "TZ": "UTC",
    "OMP_NUM_THREADS": "1",
    "MALLOC_ARENA_MAX": "2",
    "PYTHONDONTWRITEBYTECODE": "1",
}
"""Libraries start no threads before a fork."""

CODE = {
    **{name: value for name, value in SQL.items() if name != "PYTHONDONTWRITEBYTECODE"},
    "PYTHONHASHSEED": "0",
    "OPENBLAS_NUM_THREADS": "1",
    "POLARS_MAX_THREADS": "1",
    "ARROW_DEFAULT_MEMORY_POOL": "system",
    "JE_ARROW_MALLOC_CONF": "background_thread:false",
    "_RJEM_MALLOC_CONF": "background_thread:false",
    "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1",
}
"""Code must give the same bytes on every tier, so hash randomisation is off. Memory uses huge pages where the kernel
has them: a fresh process otherwise faults in 4 KiB at a time."""
