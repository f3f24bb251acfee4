"""The encoding of a text file: found from its bytes, proven by decoding all of them, and turned to UTF-8."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import charset_normalizer

from sandtable_runner.intake.bad_file import BadFile
from sandtable_runner.intake.scanning import MAX_LINE, Scan, chunks, line_at, nul, refuse_endless, scan_all
from sandtable_runner.intake.workbench import Workbench, counted

_NAMES = {
    "cp1252": "Windows-1252 (Western European)",
    "mac-roman": "Mac Roman",
    "cp1250": "Windows-1250 (Central European)",
    "cp1251": "Windows-1251 (Cyrillic)",
    "cp1253": "Windows-1253 (Greek)",
    "cp1254": "Windows-1254 (Turkish)",
    "cp1255": "Windows-1255 (Hebrew)",
    "cp1256": "Windows-1256 (Arabic)",
    "cp932": "Shift-JIS (Japanese)",
    "gb18030": "GB 18030 (Chinese)",
    "big5": "Big5 (Chinese)",
    "cp949": "EUC-KR (Korean)",
    "euc_jp": "EUC-JP (Japanese)",
    "iso8859-2": "ISO 8859-2 (Central European)",
    "koi8-r": "KOI8-R (Cyrillic)",
    "iso8859-1": "ISO 8859-1 (Latin-1)",
    "cp850": "DOS 850 (Western European)",
    "cp437": "DOS 437 (Western European)",
    "cp866": "DOS 866 (Cyrillic)",
}
"""By Python's name of the codec; the first ones are preferred where the text gives no reason for another."""
_OTHERS = ("utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be")
# Looked up while modules can still be loaded: a sealed sandbox finds no codec.
for _codec in (*_NAMES, *_OTHERS):
    codecs.lookup(_codec)

_SAMPLE = 256 << 10
_FIT = 64 << 10
_UNLIKELY = -0.15
"""For an encoding that the detector leaves out."""
_ALSO_UTF8 = 0.2
_DOS = ("cp850", "cp437", "cp866")
_SURE = 0.5
"""How well a DOS code page must fit: nearly every byte has a meaning in it, so that noise could be its text."""


def as_utf8(
    bench: Workbench, path: Path, given: str | None, *, long_lines: bool = False
) -> tuple[Path, str, list[str]]:
    """A file with the same text in UTF-8 (the same file where it is), the encoding, and notes. No NUL is in it."""
    head = next(chunks(path, 0, 64 << 10), b"")
    if not head:
        raise BadFile(f"{bench.source} is empty", "Give a file with a header line and at least one row")
    found = given if given not in (None, "utf-8") else _utf16(head)
    if found is not None:
        return _transcoded(bench, path, found, long_lines=long_lines), found, []
    if bench.unproven is not None and not long_lines and bench.unproven.begin(path):
        return path, "utf-8", []
    scan = scan_all(bench.source, path, long_lines=long_lines)
    if scan.bad_at < 0:
        return path, "utf-8", []
    bad_line = line_at(path, scan.bad_at)
    if given is not None:
        raise BadFile(
            f"{bench.source} is not UTF-8: bad byte in line {bad_line}",
            "Save it as UTF-8, or read it again with its own encoding",
        )
    encoding, example, also = _guess(bench.source, path, bad_line)
    notes = [f"The text is read as {_NAMES[encoding]}; line {bad_line} is: {example}"]
    if also and encoding in _LETTERS:
        notes.append(
            f"{counted(also.count, 'lines')} may be read wrong: they seem to be UTF-8, such as line {also.line}: "
            f"{also.text}"
        )
    return _transcoded(bench, path, encoding, long_lines=long_lines), encoding, notes


def _utf16(head: bytes) -> str | None:
    if head[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        return "utf-16"
    even, odd = head[::2].count(0), head[1::2].count(0)
    half = max(1, len(head) // 2)
    if len(head) >= 4 and even == 0 and odd / half > 0.4:
        return "utf-16-le"
    if len(head) >= 4 and odd == 0 and even / half > 0.4:
        return "utf-16-be"
    return None


@dataclass(slots=True)
class _AlsoUtf8:
    """Lines beyond ASCII that are UTF-8, in a file that is not: how many, and the first."""

    count: int = 0
    line: int = 0
    text: str = ""

    def __bool__(self) -> bool:
        return self.count > 0


def _guess(source: str, path: Path, bad_line: int) -> tuple[str, str, _AlsoUtf8]:
    """An encoding that all lines beyond ASCII can be decoded with, the text of the first one that is not UTF-8, and
    those that are."""
    sample, example, also, total = _beyond_ascii(path)
    if also.count / total > _ALSO_UTF8:
        raise BadFile(
            f"{source} mixes UTF-8 with another encoding: line {bad_line} is not UTF-8, other lines are",
            "Save all of it as UTF-8",
        )
    matches = charset_normalizer.from_bytes(
        sample, cp_isolation=list(_NAMES), preemptive_behaviour=False, enable_fallback=False
    )
    likely = {
        codecs.lookup(name).name: match.coherence / 2 - match.chaos
        for match in matches
        for name in match.could_be_from_charset
    }
    ranked = sorted(
        (-round(_fit(sample, name) + likely.get(name, _UNLIKELY), 1), place, name)
        for place, name in enumerate(_NAMES)
        if _decodes(sample, name) and not (name in _DOS and _fit(sample, name) < _SURE)
    )
    if not ranked or ranked[0][0] > 0:
        raise BadFile(
            f"{source} is not UTF-8, and no other encoding gives readable text: bad byte in line {bad_line}",
            "Save it as UTF-8; the file may be damaged",
        )
    encoding = ranked[0][-1]
    return encoding, example.decode(encoding, errors="replace").strip()[:80], also


_WESTERN = set("àâäáãåæçèéêëìíîïñòóôöõøœùúûüßÀÂÄÁÃÅÆÇÈÉÊËÌÍÎÏÑÒÓÔÖÕØŒÙÚÛÜ")
_CENTRAL = set("ąćęłńóśźżčďěňřšťůžýáéíúäöüßőűâăîôĄĆĘŁŃÓŚŹŻČĎĚŇŘŠŤŮŽÝÁÉÍÚÄÖÜŐŰÂÎÔ")
_LETTERS = {
    **dict.fromkeys(("cp1252", "iso8859-1", "mac-roman", "cp850", "cp437"), _WESTERN),
    **dict.fromkeys(("cp1250", "iso8859-2"), _CENTRAL),
    "cp1254": _WESTERN | set("ğışĞİŞ"),
}
_SIGNS = set("“”‘’„‚–—…€£°©®™§½¼²³«»¿¡\xa0")
_OPENING = "‚„"
_RARE = re.compile("[\uff61-\uff9f\u3130-\u318f]")
"""Half-width kana and single jamo: what the wrong double-byte encoding makes of a text."""


def _decodes(sample: bytes, encoding: str) -> bool:
    try:
        return bool(sample.decode(encoding))
    except UnicodeDecodeError:
        return False


def _fit(sample: bytes, encoding: str) -> float:
    """How far the characters beyond ASCII are those of texts in this encoding: letters within words, usual signs."""
    text = f" {sample[:_FIT].decode(encoding, 'ignore')} "
    letters = _LETTERS.get(encoding)
    score = count = 0
    for before, character, after in zip(text, text[1:], text[2:], strict=False):
        if not character.isascii():
            count += 1
            beside = [neighbour for neighbour in (before, after) if neighbour.isalpha()]
            misplaced = letters is not None and _is_misplaced(before, character, after)
            score += -1 if misplaced else _usual(character, beside, letters)
    return score / max(1, count)


def _is_misplaced(before: str, character: str, after: str) -> bool:
    """A low quote or a capital letter inside a word: what another encoding makes of an é or ü."""
    if not before.isalpha():
        return False
    return character in _OPENING or (character.isupper() and (before.islower() or after.islower()))


def _usual(character: str, beside: list[str], letters: set[str] | None) -> int:
    if character in _SIGNS:
        return 1
    if letters is None:
        strange = any(neighbour.isascii() for neighbour in beside) or _RARE.match(character)
        usual = character.isalpha() and not strange
    else:
        usual = character in letters
    return (1 if beside else 0) if usual else -1


def _beyond_ascii(path: Path) -> tuple[bytes, bytes, _AlsoUtf8, int]:
    """Lines beyond ASCII, up to a bound; the first that is not UTF-8; those that are; how many there are."""
    sample, example = bytearray(), b""
    also, total, number = _AlsoUtf8(), 0, 0
    with path.open("rb") as file:
        while line := file.readline(MAX_LINE):
            number += 1
            if line.isascii():
                continue
            total += 1
            try:
                text = line.decode("utf-8")
                also = _AlsoUtf8(also.count + 1, also.line or number, also.text or text.strip()[:80])
            except UnicodeDecodeError:
                example = example or line
            if len(sample) < _SAMPLE:
                sample += line[: 64 << 10]
    return bytes(sample), example, also, max(1, total)


def _transcoded(bench: Workbench, path: Path, encoding: str, *, long_lines: bool) -> Path:
    try:
        decoder = codecs.getincrementaldecoder(encoding)()
    except LookupError as error:
        raise BadFile(
            f"{bench.source} cannot be read as {encoding!r}: no such encoding is known here",
            f"Name one of these: {', '.join((*_OTHERS, *_NAMES))}",
        ) from error
    target = bench.new_path("utf8")
    line, scan = 1, Scan(long_lines)
    with target.open("wb") as out:
        for chunk in chain(chunks(path), (b"",)):
            try:
                text = decoder.decode(chunk, final=not chunk)
            except UnicodeDecodeError as error:
                where = line + error.object[: error.start].decode(encoding, "replace").count("\n")
                raise BadFile(
                    f"{bench.source} cannot be read as {_NAMES.get(encoding, encoding)}: bad byte in line {where}",
                    "Save it as UTF-8",
                ) from error
            if (at := text.find("\0")) >= 0:
                raise nul(bench.source, line + text.count("\n", 0, at))
            line += text.count("\n")
            content = text.encode()
            scan.add(content)
            out.write(content)
            if scan.long_at >= 0:
                out.flush()
                refuse_endless(bench.source, target, scan)
    return target
