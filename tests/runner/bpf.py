"""A tiny interpreter for classic BPF, so that a system call filter can be asked what it would decide."""

from __future__ import annotations

import struct

ALLOW, ERRNO, KILL = 0x7FFF0000, 0x50000, 0x80000000
_LOAD, _AND, _JUMP, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x54, 0x05, 0x15, 0x35, 0x45, 0x06


def decide(program: bytes, architecture: int, number: int, arguments: tuple[int, ...] = ()) -> int:
    """The filter's return value for that call."""
    padded = [value & 0xFFFFFFFFFFFFFFFF for value in (*arguments, 0, 0, 0, 0, 0, 0)][:6]
    data = struct.pack("<IIQ6Q", number, architecture, 0, *padded)
    instructions = [struct.unpack_from("HBBI", program, offset) for offset in range(0, len(program), 8)]
    accumulator, at = 0, 0
    while True:
        code, yes, no, value = instructions[at]
        at += 1
        if code == _LOAD:
            (accumulator,) = struct.unpack_from("<I", data, value)
        elif code == _AND:
            accumulator &= value
        elif code == _JUMP:
            at += value
        elif code == _RETURN:
            return value
        else:
            tests = {
                _EQUAL: accumulator == value,
                _AT_LEAST: accumulator >= value,
                _ANY_BIT: accumulator & value,
            }
            at += yes if tests[code] else no
