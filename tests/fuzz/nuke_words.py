"""Damage to Nuke scripts, word by word: what is left is nearly a script, or one that Nuke would never write."""

from __future__ import annotations

import random
import re
from collections.abc import Callable

from tests.fuzz.damage import TEXT_DAMAGES, damaged

from understudy.script.nodes import DECLARED

Words = list[str]
OnWords = Callable[[Words, random.Random], None]
OnText = Callable[[str, random.Random], str]

_WORD = re.compile(r'\n|[ \t]+|[{}"\[\];\\]|[^\s{}"\[\];\\]+')
_KNOB = re.compile(r"^( *)([a-zA-Z_]\w*)( +)(.*)$", re.MULTILINE)
_NODE = re.compile(r"^ *(?:clone \S+ )?([A-Z]\w*) \{\n", re.MULTILINE)
_MOST_CHARACTERS = 2_000_000

_STATED = r"""{} | "" | 0 | 1 | -1 | 0.5 | 200 | nan | inf | 1e999 | 1e15 | 1e308 | 1e-300 | 2147483648 | 16777216
999999 | 1000000 | -1000000 | 99999999999999999999 | 1 2 3 | {1 2 3 4 5} | {{1}} | {{{{1}}}} | {curve} | "a b" | a\ b
{curve x1 1 x10 2} | {{curve i x1 0}} | {{curve x1}} | {curve R x1 nan} | {{curve L l x1001 1 s0 t1}} | {{frame}}
{{1/0}} | {{1/(frame-2)}} | {{9**9**9}} | {{this.mix}} | {{parent.parent.Crop1.box}}
{{frame ? t : 1}} | {{((((}} | {{[exec id]}}
{{curve C x1 0 x9 1}} | {{curve(frame+1) x1 0 x9 1}} | {{gamma.r}} | {{Merge1.mix(frame-1)}} | {{x?y:z}} | {{-1e999}}
{{input.width}} | {{width}} | {{input.bbox.r+1}} | {{input.first_frame}} | {{"\[exists input1]"}}
{{{parent.Crop1.box}}} | {{{parent.Merge1.output}}} | {{root.format.w}} | {{root.frame}} | {{N.knob.gain}}
{{parent.gain}} | {{=x}} | {{"[value root.name]"}} | {{sin(frame)*[value x]}} | rgba | all | {rgba.red depth.Z} | none
-rgba.red | rgb.rgb.rgb | true | off | hold | loop | bounce | black | error | {nearest frame}
offset | {start at} | expression
frame+1 | 2+1 | 9999 | 0+0+0 | -2 | plate.####.exr | %04d | %65536d | plate.%d.exr | plate.%V.exr | plate.0001.exr | /
.. | \[getenv HOME] | \[python {1+1}] | \[file dirname \[value root.name]] | \[file join a b | ] | plate.\x00.exr
\ud800 | ####### | @@@@@@@@@@@@@@@ | 0 0 0 0 | {0 0 1 1} | {0 0 1e9 1e9} | {-5 -5 60000 4} | {1 1 0 0} | 4096 3112
{0 0 65536 65536} | {0 0 65536 1} | {-2000000000 0 -1999999990 5} | Checkpoint | Manual | Large"""
VALUES = (*(value for line in _STATED.splitlines() for value in line.split(" | ")), "1" * 400, "9" * 5000, "\ufeff")
LINES = """push 0
push $N1
push $Npaint
push $cut_paste_input
push [stack 1]
push [stack 999999]
push {}
set Nx [stack 0]
set Nx [stack 3]
set Nplate [stack 1]
set a
end_group
clone
clone $Nplate {}
clone $Nplate Grade {}
clone node1|Grade|1 Grade {name C}
clone node1 {}
Root {inputs 0}
Viewer {}
Dot {}
Dot {inputs 4}
Input {inputs 0}
Output {}
Group {name G}
LiveGroup {}
Gizmo {}; end_group
AppendClip {inputs 3}
Switch {inputs 3 which 2}
FrameHold {first_frame 3}
TimeOffset {time_offset 3}
TimeClip {first 2 last 8}
FrameRange {first_frame 1 last_frame 9}
Retime {speed 2 filter nearest before loop}
Retime {input.first 2 input.first_lock 1 output.last 9 output.last_lock 1 filter none}
TimeWarp {lookup {{frame*2}} filter nearest}
TimeWarp {lookup {{frame/3}} length 2}
Retime {speed 1.5}
EdgeBlur {size 4}
FrameBlend {numframes 3}
FrameBlend {userange 1 startframe 1 endframe 5}
TimeEcho {framesbehind 3 frmaesfade 2}
AppendClip {inputs 2 dissolve 3 fadeIn 2 fadeOut 99}
Precomp {file moving.nk}
LiveGroup {file plain.nk}
JoinViews {inputs 2 viewassoc "left\\nright"}
Group {name L addUserKnob {41 mix T Grade1.mix}}
Remove {}
Crop {box {0 0 4 4}}
CornerPin2D {from1 {0 0} from2 {9 0} from3 {9 7} from4 {0 7} to1 {1 1} to2 {8 0} to3 {7 5} to4 {2 6.5} invert false}
Tracker4 {transform "stabilize 1-pt" translate {{curve x1 0 1 2} 3} center {{curve x1 4 3 2} 3} filter Keys}
MergeExpression {inputs 2 expr0 Ar+Br expr3 max(Aa,Ba)}
Grade {white 2}
Grade {gamma 0.5 mix 2}
Grade {}{}
Blur {size 3}
Posterize {channels rgba Colors 4}
CopyCat {inputs 2}
Read {}
Read {file plate.####.exr last 10 on_error black}
version 15.1 v1
add_layer {a a.b}
a b c d e
# {
;
"
{
}
\\
[
]""".splitlines()
_WITHOUT_END = (
    ("Group {\n name G\n}\n", "end_group\n"),
    ("Group {\n name G\n}\n", ""),
    ("push 0\n", ""),
    ("Dot {\n}\n", ""),
    ("Grade {\n gain 2\n}\n", ""),
    ("Dot {\n inputs 9999\n}\n", ""),
    ("Dot {\n a {", "}\n}\n"),
    ("Root {\n a {{{{", ""),
    ("FrameHold {\n first_frame 1\n}\n", ""),
    ("set N [stack 0]\npush $N\nAppendClip {\n inputs 2\n}\n", ""),
)
"""What opens, and what closes it again."""


def damaged_script(content: bytes, chance: random.Random) -> bytes:
    """As bytes, or as words."""
    if chance.random() < 0.3:
        return damaged(content, chance, TEXT_DAMAGES)
    text = content.decode()
    for _ in range(chance.choice((1, 1, 1, 2, 5))):
        if chance.random() < 0.5:
            text = chance.choice(_ON_TEXT)(text, chance)
        else:
            words = _WORD.findall(text) or [""]
            chance.choice(_ON_WORDS)(words, chance)
            text = "".join(words)
    return text.encode("utf-8", "surrogatepass")


def _another_value(text: str, chance: random.Random) -> str:
    """A knob says something that it never says."""
    knobs = list(_KNOB.finditer(text))
    if not knobs:
        return text
    found = chance.choice(knobs)
    return text[: found.start(4)] + chance.choice(VALUES) + text[found.end(4) :]


def _declared_knob(text: str, chance: random.Random) -> str:
    """A node says a knob of its class that it left out, or says it first: then the later value counts."""
    nodes = [found for found in _NODE.finditer(text) if found[1] in DECLARED and DECLARED[found[1]]]
    if not nodes:
        return text
    found = chance.choice(nodes)
    knob = chance.choice(DECLARED[found[1]])
    value = chance.choice(knob.choices if knob.choices and chance.random() < 0.5 else VALUES)
    shown = f'"{value}"' if " " in value and value[0] not in '{"' else value
    return f"{text[: found.end()]} {chance.choice(knob.names)} {shown}\n{text[found.end() :]}"


def _another_class(text: str, chance: random.Random) -> str:
    """A node becomes one of another class that is evaluated, its knobs as they are."""
    nodes = list(_NODE.finditer(text))
    if not nodes:
        return text
    found = chance.choice(nodes)
    return text[: found.start(1)] + chance.choice(list(DECLARED)) + text[found.end(1) :]


def _other_knob(text: str, chance: random.Random) -> str:
    """A knob's value under the name of another."""
    knobs = list(_KNOB.finditer(text))
    if len(knobs) < 2:
        return text
    one, other = chance.sample(knobs, 2)
    return text[: one.start(2)] + other.group(2) + text[one.end(2) :]


def _another_line(text: str, chance: random.Random) -> str:
    """A command between others, once or many times."""
    lines = text.split("\n")
    at = chance.randrange(len(lines) + 1)
    return "\n".join([*lines[:at], *[chance.choice(LINES)] * chance.choice((1, 1, 1, 2, 200)), *lines[at:]])


def _moved_lines(text: str, chance: random.Random) -> str:
    lines = text.split("\n")
    begin = chance.randrange(len(lines))
    moved = lines[begin : begin + chance.choice((1, 3, 8))]
    rest = lines[:begin] + lines[begin + len(moved) :]
    at = chance.randrange(len(rest) + 1)
    return "\n".join([*rest[:at], *moved * chance.choice((0, 1, 1, 2, 30)), *rest[at:]])


def _without_end(text: str, chance: random.Random) -> str:
    """Nested or stacked, before the first Read or the training node."""
    opened, closed = chance.choice(_WITHOUT_END)
    count = min(chance.choice((40, 40, 500, 500, 5000)), _MOST_CHARACTERS // len(opened + closed))
    at = text.find("\nRead {") + 1 if chance.random() < 0.7 else text.rfind("\nCopyCat {") + 1
    return text[:at] + opened * count + text[at:] + closed * count


_ON_TEXT: tuple[OnText, ...] = (
    *(_another_value, _another_value, _another_value, _another_value, _other_knob, _another_line, _another_line),
    *(_declared_knob, _declared_knob, _declared_knob, _another_class, _moved_lines, _moved_lines, _without_end),
)


def _drop_word(words: Words, chance: random.Random) -> None:
    del words[chance.randrange(len(words))]


def _repeat_word(words: Words, chance: random.Random) -> None:
    at = chance.randrange(len(words))
    words[at:at] = [words[at]] * chance.choice((1, 2, 500))


def _another_word(words: Words, chance: random.Random) -> None:
    words[chance.randrange(len(words))] = chance.choice((chance.choice(VALUES), chance.choice(words)))


def _swapped_words(words: Words, chance: random.Random) -> None:
    one, other = chance.randrange(len(words)), chance.randrange(len(words))
    words[one], words[other] = words[other], words[one]


def _stray_mark(words: Words, chance: random.Random) -> None:
    words.insert(chance.randrange(len(words) + 1), chance.choice('{}"[]\\;$#\0'))


_ON_WORDS: tuple[OnWords, ...] = (_drop_word, _repeat_word, _another_word, _another_word, _swapped_words, _stray_mark)
