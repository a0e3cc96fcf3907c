"""Parser of regular expressions in RE2's syntax to a tree: https://github.com/google/re2/wiki/Syntax.

Whether a whole string matches does not depend on which alternative is tried first, so lazy quantifiers are read as
greedy ones, and groups only group.
"""

from __future__ import annotations

from dataclasses import dataclass

from mlc.frontends.build.ops.strings.regex_tree import (
    CLASSES,
    LAST,
    POSIX,
    Assertion,
    Choice,
    Ranges,
    RegexError,
    Repeat,
    Sequence,
    Set,
    Tree,
    both_cases,
    category,
    complement,
)

MOST = 1000  # repetitions, as in RE2
CONTROLS = {"a": 7, "f": 12, "n": 10, "r": 13, "t": 9, "v": 11}
ASSERTIONS = {"b": "boundary", "B": "inside", "A": "begin", "z": "end"}




def parse(pattern: str) -> Tree:
    """The tree of a pattern.

    Raises:
        RegexError: it is not valid, or not supported: flags but i, m, s and U, scripts (\\p{Greek}), \\C.
    """
    reader = _Reader(pattern)
    tree = reader.choice()
    if reader.rest():
        raise RegexError(f"')' at {reader.at} closes nothing")
    return tree


@dataclass
class _Reader:
    """Reads a pattern from ``at`` on."""

    pattern: str
    at: int = 0
    fold: bool = False  # letters of either case
    lines: bool = False  # a dot is also the end of a line
    many: bool = False  # ^ and $ are the ends of lines

    def rest(self) -> str:
        return self.pattern[self.at :]

    def take(self, token: str) -> bool:
        """Read a token if it is next."""
        found = self.pattern.startswith(token, self.at)
        self.at += len(token) * found
        return found

    def next(self) -> str:
        if self.at >= len(self.pattern):
            raise RegexError("it ends too early")
        self.at += 1
        return self.pattern[self.at - 1]

    def until(self, token: str) -> str:
        """Read up to a token, and the token."""
        end = self.pattern.find(token, self.at)
        if end < 0:
            raise RegexError(f"'{token}' is missing")
        found, self.at = self.pattern[self.at : end], end + len(token)
        return found

    def choice(self) -> Tree:
        flags = self.fold, self.lines, self.many
        parts = [self.sequence()]
        while self.take("|"):
            parts.append(self.sequence())
        self.fold, self.lines, self.many = flags  # flags end with their group
        return parts[0] if len(parts) == 1 else Choice(tuple(parts))

    def sequence(self) -> Tree:
        parts: list[Tree] = []
        while self.rest() and self.rest()[0] not in "|)":
            parts.append(self.repeated(self.atom()))
        return Sequence(tuple(parts))

    def repeated(self, part: Tree) -> Tree:
        while bounds := self.bounds():
            low, high = bounds
            if max(low, high or 0) > MOST or (high is not None and low > high):
                raise RegexError(f"it repeats from {low} to {high} times")
            part = Repeat(part, low, high)
            self.take("?")
        return part

    def bounds(self) -> tuple[int, int | None] | None:
        for token, bounds in (("*", (0, None)), ("+", (1, None)), ("?", (0, 1))):
            if self.take(token):
                return bounds
        low, _, high = self.rest()[1:].partition("}")[0].partition(",")
        if not self.rest().startswith("{") or not low.isdecimal() or not (high or "0").isdecimal():
            return None  # a literal brace
        comma = "," in self.until("}")
        return int(low), (int(high) if high else None) if comma else int(low)

    def atom(self) -> Tree:
        char = self.next()
        if char == "(":
            return self.group()
        if char == "[":
            return self.one_of()
        if char == ".":
            return Set(((0, LAST),) if self.lines else complement(((10, 10),)))
        if char in "^$":
            return Assertion(("line " if self.many else "") + ("begin" if char == "^" else "end"))
        if char in "*+?":
            raise RegexError(f"'{char}' repeats nothing")
        if char != "\\":
            return self.single(ord(char))
        if self.rest()[:1] in ASSERTIONS:
            return Assertion(ASSERTIONS[self.next()])
        if self.take("Q"):
            end = self.pattern.find("\\E", self.at)
            quoted = self.rest() if end < 0 else self.until("\\E")
            self.at = len(self.pattern) if end < 0 else self.at
            return self.quoted(quoted)
        escaped = self.escape()
        return self.single(escaped) if isinstance(escaped, int) else Set(escaped)

    def quoted(self, text: str) -> Tree:
        """Text between \\Q and \\E; what repeats it repeats its last character."""
        parts = tuple(self.single(ord(c)) for c in text)
        return Sequence((*parts[:-1], self.repeated(parts[-1]))) if parts else Sequence(())

    def single(self, code: int) -> Set:
        return Set(both_cases(((code, code),)) if self.fold else ((code, code),))

    def group(self) -> Tree:
        if self.take("?P<") or self.take("?<"):
            self.until(">")
        elif self.take("?"):
            flags = ""
            while self.rest()[:1] not in (":", ")", ""):
                flags += self.next()
            on, _, off = flags.partition("-")
            if set(on + off) - set("imsU"):
                raise RegexError(f"flags '{flags}'; only i, m, s and U are read")
            before = self.fold, self.lines, self.many
            self.fold = ("i" in on or self.fold) and "i" not in off
            self.lines = ("s" in on or self.lines) and "s" not in off
            self.many = ("m" in on or self.many) and "m" not in off
            if self.take(")"):
                return Sequence(())
            self.take(":")
            tree = self.closed()
            self.fold, self.lines, self.many = before
            return tree
        return self.closed()

    def closed(self) -> Tree:
        tree = self.choice()
        if not self.take(")"):
            raise RegexError("')' is missing")
        return tree

    def one_of(self) -> Tree:
        """The character class in brackets."""
        negated, found = self.take("^"), list[tuple[int, int]]()
        while not found or not self.take("]"):
            low = self.member()
            if isinstance(low, int):
                high: int | Ranges = low
                if self.rest()[:1] == "-" and self.rest()[1:2] != "]":
                    self.at += 1
                    high = self.member()
                if not isinstance(high, int) or high < low:
                    raise RegexError("a range in brackets that is not one")
                found.append((low, high))
            else:
                found += low
        ranges = both_cases(tuple(found)) if self.fold else tuple(found)
        return Set(complement(ranges) if negated else ranges)

    def member(self) -> int | Ranges:
        if self.take("[:"):
            name = self.until(":]")
            if name.removeprefix("^") not in POSIX:
                raise RegexError(f"[:{name}:] is no class")
            ranges = POSIX[name.removeprefix("^")]
            return complement(ranges) if name[0] == "^" else ranges
        char = self.next()
        return self.escape() if char == "\\" else ord(char)

    def escape(self) -> int | Ranges:
        """The character or class of an escape sequence, after its backslash."""
        char = self.next()
        if char.lower() in CLASSES:
            ranges = CLASSES[char.lower()]
            return complement(ranges) if char.isupper() else ranges
        if char in "pP":
            name = self.until("}") if self.take("{") else self.next()
            ranges = category(name.removeprefix("^"))
            return complement(ranges) if (char == "P") != name.startswith("^") else ranges
        if char == "x":
            digits = self.until("}") if self.take("{") else self.next() + self.next()
            return _code(digits, 16)
        if char in "01234567":
            while len(char) < 3 and self.rest()[:1] in tuple("01234567"):
                char += self.next()
            return _code(char, 8)
        if char.isascii() and char.isalnum() and char not in CONTROLS:
            raise RegexError(f"'\\{char}' is not read")
        return CONTROLS.get(char, ord(char))


def _code(digits: str, base: int) -> int:
    try:
        code = int(digits, base)
    except ValueError:
        raise RegexError(f"'{digits}' is no number of base {base}") from None
    if code > LAST:
        raise RegexError(f"there is no character {digits}")
    return code
