"""Expressions: C's arithmetic over numbers and names, read by a parser of our own and computed without recursion.

`[value x]`, `[numvalue x]` and `[knob x]` are the name x, `[expression ...]` and `[expr ...]` are parentheses,
`[frame]` is the frame, and `[exists x]` is 1 where there is such a node; no other command of Tcl means anything here,
and none is run.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from understudy.script.values.fault import Unreadable, shortened
from understudy.script.values.functions import BINARY, CONSTANTS, FUNCTIONS, Function, Numbers, choose, opposite

_LONGEST = 4000
"""Characters."""
_DEEPEST = 24
"""Parentheses within one another; each costs a few frames of Python's stack."""
_TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)"
    r"|\[\s*(?:value|numvalue|knob)\s+(?P<value>[\w.]+)\s*\]"
    r"|\[\s*exists\s+(?P<exists>[\w.]+)\s*\]"
    r"|\[\s*(?P<frame>frame)\s*\]"
    r"|(?P<arithmetic>\[\s*(?:expression|expr)\b)"
    r"|(?P<name>\$gui\b|[A-Za-z_]\w*(?:\.\w+)*)"
    r"|(?P<sign>\*\*|&&|\|\||[<>=!]=|[-+*/%<>!?:(),\]]))"
)
_POWERS = {
    **{"||": 1, "&&": 2, "==": 3, "!=": 3},
    **{"<": 4, "<=": 4, ">": 4, ">=": 4},
    **{"+": 5, "-": 5, "*": 6, "/": 6, "%": 6},
}
"""How tightly each operator binds; `**` and signs bind tighter than all."""


@dataclass(frozen=True, kw_only=True)
class Name:
    """A word that stands for a number somewhere else: `frame`, `parent.Crop1.box.x`."""

    words: tuple[str, ...]
    has_frame: bool = False
    """Whether it is called as a function: the number computed before it is the frame that is meant."""
    is_existence: bool = False
    """Whether it stands for 1 where there is such a node, and for 0 elsewhere."""


@dataclass(frozen=True, kw_only=True)
class Call:
    """A function applied to the last numbers computed."""

    function: Function
    count: int


Step: TypeAlias = "np.float64 | Name | Call"
Look: TypeAlias = Callable[[Name, "float | None"], float]
"""Gives a name's number, at the frame stated if one is."""


@dataclass(frozen=True, kw_only=True)
class Formula:
    """An expression as steps in the order in which they are computed."""

    text: str
    steps: tuple[Step, ...]

    def value(self, look: Look) -> float:
        """The number it comes to. Raises Unreadable when that is none, as after a division by zero."""
        with np.errstate(all="ignore"):
            result = float(self.compute(lambda name, frame: np.float64(look(name, frame))))
        if not np.isfinite(result):
            raise Unreadable(f"holds {shortened(self.text)}, which comes to no number (a division by zero?)")
        return result

    def compute(self, look: Callable[[Name, float | None], Numbers]) -> Numbers:
        """The result for numbers or arrays of them; both sides of a choice are computed, and one is taken.

        Raises Unreadable where a frame that is asked for is no single number.
        """
        stack: list[Numbers] = []
        for step in self.steps:
            if isinstance(step, Call):
                arguments = stack[len(stack) - step.count :]
                del stack[len(stack) - step.count :]
                stack.append(step.function(*arguments))
            elif isinstance(step, Name):
                stack.append(look(step, self._frame(stack.pop()) if step.has_frame else None))
            else:
                stack.append(step)
        return stack[-1]

    def _frame(self, asked: Numbers) -> float:
        if np.ndim(asked):
            raise Unreadable(f"holds {shortened(self.text)}, which asks for another frame at each pixel")
        return float(asked)


def formula_of(text: str) -> Formula:
    """Raises Unreadable saying what is not understood."""
    if len(text) > _LONGEST:
        raise Unreadable(f"holds an expression of {len(text)} characters, over {_LONGEST}")
    return Formula(text=text, steps=tuple(_Parser(text).whole()))


class _Parser:
    """Tokens in order; what is read becomes steps."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = list(_tokens(text))
        self._at = 0
        self._depth = 0
        self._steps: list[Step] = []

    def whole(self) -> list[Step]:
        self._choice()
        if self._peek() is not None:
            raise self._fault()
        return self._steps

    def _choice(self) -> None:
        """`a ? b : c ? d : e`: a chain of tests is no deeper than one."""
        self._operation(0)
        tests = 0
        while self._take("?"):
            self._nested()
            self._expect(":")
            self._operation(0)
            tests += 1
        self._steps += [Call(function=choose, count=3)] * tests

    def _nested(self) -> None:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise Unreadable(f"holds an expression nested over {_DEEPEST} deep")
        self._choice()
        self._depth -= 1

    def _operation(self, weakest: int) -> None:
        """Operands and the operators between them that bind more tightly than `weakest`."""
        self._signed()
        while (sign := self._sign()) in _POWERS and _POWERS[sign] > weakest:
            self._at += 1
            self._operation(_POWERS[sign])
            self._steps.append(Call(function=BINARY[sign], count=2))

    def _signed(self) -> None:
        signs = []
        while self._sign() in ("-", "+", "!"):
            signs.append(self._sign())
            self._at += 1
        self._power()
        for sign in reversed(signs):
            if sign != "+":
                self._steps.append(Call(function=np.negative if sign == "-" else opposite, count=1))

    def _power(self) -> None:
        self._operand()
        if self._take("**"):
            self._depth += 1
            if self._depth > _DEEPEST:
                raise Unreadable(f"holds an expression nested over {_DEEPEST} deep")
            self._signed()
            self._depth -= 1
            self._steps.append(Call(function=BINARY["**"], count=2))

    def _operand(self) -> None:
        token = self._peek()
        if token is None:
            raise self._fault()
        self._at += 1
        kind, text = token
        if kind == "number":
            self._steps.append(np.float64(text))
        elif kind in ("value", "frame", "exists"):
            self._steps.append(Name(words=tuple(text.split(".")), is_existence=kind == "exists"))
        elif kind == "name":
            self._named(text)
        elif kind == "arithmetic" or text == "(":
            self._nested()
            self._expect("]" if kind == "arithmetic" else ")")
        else:
            self._at -= 1
            raise self._fault()

    def _named(self, name: str) -> None:
        if not self._take("("):
            is_constant = name in CONSTANTS
            self._steps.append(np.float64(CONSTANTS[name]) if is_constant else Name(words=tuple(name.split("."))))
            return
        count = self._arguments()
        if name in FUNCTIONS:
            known = FUNCTIONS[name]
            if not known.fewest <= count <= known.most:
                raise Unreadable(f"holds {name}() with {count} numbers in {shortened(self._text)}")
            self._steps.append(Call(function=known.function, count=count))
        elif count == 1:
            self._steps.append(Name(words=tuple(name.split(".")), has_frame=True))
        else:
            raise Unreadable(f"holds the function {name}() in {shortened(self._text)}, which is not known")

    def _arguments(self) -> int:
        if self._take(")"):
            return 0
        self._nested()
        count = 1
        while self._take(","):
            self._nested()
            count += 1
        self._expect(")")
        return count

    def _peek(self) -> tuple[str, str] | None:
        return self._tokens[self._at] if self._at < len(self._tokens) else None

    def _sign(self) -> str:
        token = self._peek()
        return token[1] if token is not None and token[0] == "sign" else ""

    def _take(self, sign: str) -> bool:
        found = self._sign() == sign
        self._at += found
        return found

    def _expect(self, sign: str) -> None:
        if not self._take(sign):
            raise self._fault()

    def _fault(self) -> Unreadable:
        token = self._peek()
        at = f"near {shortened(token[1])}" if token is not None else "at its end"
        return Unreadable(f"holds {shortened(self._text)}, which is not understood {at}")


def _tokens(text: str) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    at, end = 0, len(text.rstrip())
    while at < end:
        token = _TOKEN.match(text, at, end)
        if token is None or token.lastgroup is None:
            rest = text[at:end].lstrip()
            what = "the command" if rest.startswith("[") else "the expression"
            raise Unreadable(f"holds {what} {shortened(rest)}, which is not evaluated")
        found.append((token.lastgroup, token[token.lastgroup]))
        at = token.end()
    return found
