"""Tcl words without Tcl: splits scripts and lists, substitutes backslashes, and runs nothing.

`$name` and `[command]` stay in the text as they are; whoever understands one says so. Every scan is a loop over one
position, so the cost is linear and deep nesting needs no stack.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from understudy.errors import UnderstudyError

_SPACES = " \t\n\r\v\f"
_WORD_GAP = re.compile(r"(?:[ \t\r\v\f]+|\\\n)*")
_COMMAND_GAP = re.compile(r"(?:[ \t\n\r\v\f;]+|\\\n)*")
_COMMENT = re.compile(r"#(?:[^\\\n]+|\\.)*\\?", re.DOTALL)
_BRACE = re.compile(r"\\.|[{}]", re.DOTALL)
_QUOTED_STOP = re.compile(r'(?:[^\\"\[]+|\\.)*', re.DOTALL)
_BARE_STOP = re.compile(r"(?:[^\\ \t\n\r\v\f;\[]+|\\[^\n])*")
_BRACKET = re.compile(r"\\.|[\[\]{]", re.DOTALL)
_LIST_GAP = re.compile(r"[ \t\n\r\v\f]*")
_LIST_QUOTED = re.compile(r'(?:[^\\"]+|\\.)*', re.DOTALL)
_LIST_BARE = re.compile(r"(?:[^\\ \t\n\r\v\f]+|\\\n[ \t]*|\\.)*\\?", re.DOTALL)
_ESCAPED = re.compile(r"\\(\n[ \t]*|.)", re.DOTALL)
_BACKSLASH = re.compile(
    r"\\(?:\n[ \t]*|x[0-9a-fA-F]{1,2}|u[0-9a-fA-F]{1,4}|U[0-9a-fA-F]{1,8}|[0-3][0-7]{0,2}|[4-7][0-7]?|.)", re.DOTALL
)
_DEEPEST_INDENT = 256
_CONTROL = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}


@dataclass(frozen=True, kw_only=True)
class Word:
    """One word of a command or list, braces and quotes taken off."""

    text: str
    """Backslashes substituted unless braced; `$` and `[...]` untouched."""
    line: int
    """The line of the file on which it begins, from 1."""


@dataclass(frozen=True, kw_only=True)
class Command:
    """One command of a script: a node class and its body, or a stack word such as `push`."""

    words: tuple[Word, ...]
    """At least one."""
    indent: int
    """Spaces before the first word."""

    @property
    def line(self) -> int:
        return self.words[0].line


def read_commands(text: str, file: str) -> Iterator[Command]:
    """The commands of a script in order. Raises UnderstudyError naming file and line for unbalanced text."""
    return _Scanner(text, file, 1).commands()


def read_list(text: str, file: str, line: int) -> tuple[Word, ...]:
    """The elements of a Tcl list that begins on `line` of `file`; brackets and dollars mean nothing in lists.

    Raises UnderstudyError naming file and line for unbalanced text.
    """
    return tuple(_Scanner(text, file, line).elements())


class _Scanner:
    """A position in a text that only moves forward, with its line number."""

    def __init__(self, text: str, file: str, line: int) -> None:
        self._text = text
        self._file = file
        self._position = 0
        self._line = line
        self._counted = 0

    def commands(self) -> Iterator[Command]:
        while True:
            self._skip(_COMMAND_GAP)
            if self._at_end():
                return
            if self._peek() == "#":
                self._skip(_COMMENT)
                continue
            before = self._text[max(0, self._position - _DEEPEST_INDENT) : self._position]
            indent = len(before) - len(before.rstrip(" "))
            yield Command(words=tuple(self._command_words()), indent=indent)

    def elements(self) -> Iterator[Word]:
        while True:
            self._skip(_LIST_GAP)
            if self._at_end():
                return
            line, first = self._line_here(), self._peek()
            if first == "{":
                yield Word(text=self._braced(line), line=line)
            elif first == '"':
                yield Word(text=substitute_backslashes(self._list_quoted(line)), line=line)
            else:
                yield Word(text=substitute_backslashes(self._take(_LIST_BARE)), line=line)
            if not self._at_end() and self._peek() not in _SPACES:
                raise self._error(line, "text follows a closing brace or quote without a space between")

    def _command_words(self) -> Iterator[Word]:
        while True:
            self._skip(_WORD_GAP)
            if self._at_end() or self._peek() in "\n;":
                return
            line, first = self._line_here(), self._peek()
            if first == "{":
                yield Word(text=_fold_lines(self._braced(line)), line=line)
            elif first == '"':
                yield Word(text=self._quoted(line), line=line)
            else:
                yield Word(text=self._bare(line), line=line)
            if not (self._at_end() or self._peek() in _SPACES + ";" or self._text.startswith("\\\n", self._position)):
                raise self._error(line, "text follows a closing brace or quote without a space between")

    def _braced(self, line: int) -> str:
        """The text between this opening brace and its own closing one; moves behind it."""
        begin = self._position + 1
        self._position = self._closing_brace(self._position, line) + 1
        return self._text[begin : self._position - 1]

    def _closing_brace(self, opening: int, line: int) -> int:
        depth = 0
        for found in _BRACE.finditer(self._text, opening):
            if found.group() == "{":
                depth += 1
            elif found.group() == "}":
                depth -= 1
                if depth == 0:
                    return found.start()
        raise self._error(line, "the brace { opened here is never closed")

    def _quoted(self, line: int) -> str:
        self._position += 1
        parts = []
        while True:
            parts.append(substitute_backslashes(self._take(_QUOTED_STOP)))
            if self._at_end() or self._peek() == "\\":
                raise self._error(line, 'the quote " opened here is never closed')
            if self._peek() == '"':
                self._position += 1
                return "".join(parts)
            parts.append(self._bracketed(line))

    def _list_quoted(self, line: int) -> str:
        self._position += 1
        inside = self._take(_LIST_QUOTED)
        if self._at_end() or self._peek() != '"':
            raise self._error(line, 'the quote " opened here is never closed')
        self._position += 1
        return inside

    def _bare(self, line: int) -> str:
        parts = []
        while True:
            parts.append(substitute_backslashes(self._take(_BARE_STOP)))
            if self._at_end() or self._peek() != "[":
                if self._position == len(self._text) - 1 and self._peek() == "\\":
                    self._position += 1
                    parts.append("\\")
                return "".join(parts)
            parts.append(self._bracketed(line))

    def _bracketed(self, line: int) -> str:
        """A `[...]` as it stands, nested ones within; a braced word inside hides its brackets."""
        begin, depth, at = self._position, 0, self._position
        while found := _BRACKET.search(self._text, at):
            at = found.end()
            if found.group() == "[":
                depth += 1
            elif found.group() == "{" and self._text[found.start() - 1] in _SPACES:
                at = self._closing_brace(found.start(), line) + 1
            elif found.group() == "]":
                depth -= 1
                if depth == 0:
                    self._position = at
                    return self._text[begin:at]
        raise self._error(line, "the bracket [ opened here is never closed")

    def _skip(self, gap: re.Pattern[str]) -> None:
        self._take(gap)

    def _take(self, pattern: re.Pattern[str]) -> str:
        found = pattern.match(self._text, self._position)
        assert found is not None, pattern
        self._position = found.end()
        return found.group()

    def _peek(self) -> str:
        return self._text[self._position]

    def _at_end(self) -> bool:
        return self._position >= len(self._text)

    def _line_here(self) -> int:
        self._line += self._text.count("\n", self._counted, self._position)
        self._counted = self._position
        return self._line

    def _error(self, line: int, what: str) -> UnderstudyError:
        return UnderstudyError(f"{self._file}, line {line}: {what}; mend the script or save it again from Nuke")


def _fold_lines(text: str) -> str:
    """The one substitution that Tcl makes in a braced word: an escaped line end and the indent after it is a space."""
    if "\\\n" not in text:
        return text
    return _ESCAPED.sub(lambda found: " " if found.group(1)[0] == "\n" else found.group(), text)


def substitute_backslashes(text: str) -> str:
    """Tcl's backslash sequences as the characters they stand for."""
    return _BACKSLASH.sub(_character, text) if "\\" in text else text


def _character(found: re.Match[str]) -> str:
    after = found.group()[1:]
    if after[0] == "\n":
        return " "
    if after[0] in "xuU" and len(after) > 1:
        return _code_point(int(after[1:], 16))
    if after[0] in "01234567":
        return chr(int(after, 8))
    return _CONTROL.get(after, after)


def _code_point(number: int) -> str:
    """The character, or the replacement mark where there is none or half of one."""
    return chr(number) if number < 0xD800 or 0xE000 <= number <= 0x10FFFF else "\N{REPLACEMENT CHARACTER}"
