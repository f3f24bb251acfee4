"""Landlock: only the named paths and ports can be used, nothing can be executed, no outer socket or signal.

Works for any user, without namespaces; the kernel reports which features it has (`abi`).
"""

from __future__ import annotations

import ctypes
import os
import stat
import struct
from collections.abc import Iterable

from sandtable_runner.kernel import syscall, syscall_raw

_READ = (1 << 2) | (1 << 3)
_HANDLED = {1: 0x1FFF, 2: 0x3FFF, 3: 0x7FFF, 4: 0x7FFF, 5: 0xFFFF}
_EXECUTE, _MAKE_CHAR, _MAKE_SOCKET, _MAKE_BLOCK, _IOCTL_DEVICE = 1 << 0, 1 << 6, 1 << 9, 1 << 11, 1 << 15
_FILE_RIGHTS = (1 << 0) | (1 << 1) | (1 << 2) | (1 << 14) | (1 << 15)
_VERSION_QUERY, _PATH_BENEATH, _NET_PORT = 1, 1, 2
_CONNECT_TCP = 2
_PORTS_SINCE = 4


def abi() -> int:
    """0 where the kernel has no Landlock or has it switched off."""
    return max(0, syscall_raw("landlock_create_ruleset", None, 0, _VERSION_QUERY))


def restrict(version: int, read: Iterable[int], write: Iterable[int], connect: Iterable[int] = ()) -> None:
    """Confine this thread irreversibly. `read` and `write` are open descriptors of files or folders, `connect` the
    ports that may be connected to."""
    handled = _HANDLED[min(version, 5)]
    writable = handled & ~(_EXECUTE | _MAKE_CHAR | _MAKE_SOCKET | _MAKE_BLOCK | _IOCTL_DEVICE)
    fields = struct.pack("QQQ", handled, 3 if version >= _PORTS_SINCE else 0, 3 if version >= 6 else 0)
    size = 24 if version >= 6 else 16 if version >= _PORTS_SINCE else 8
    ruleset = syscall("landlock_create_ruleset", ctypes.create_string_buffer(fields[:size], size), size, 0)
    for descriptors, rights in ((read, _READ), (write, writable)):
        for fd in descriptors:
            granted = rights if stat.S_ISDIR(os.fstat(fd).st_mode) else rights & _FILE_RIGHTS
            rule = ctypes.create_string_buffer(struct.pack("<Qi", granted, fd), 12)
            syscall("landlock_add_rule", ruleset, _PATH_BENEATH, rule, 0)
    for port in connect if version >= _PORTS_SINCE else ():
        rule = ctypes.create_string_buffer(struct.pack("QQ", _CONNECT_TCP, port), 16)
        syscall("landlock_add_rule", ruleset, _NET_PORT, rule, 0)
    syscall("landlock_restrict_self", ruleset, 0)
    os.close(ruleset)
