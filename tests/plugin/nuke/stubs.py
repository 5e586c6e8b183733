"""What types-nuke says that Nuke has, and whether a fake of it may be told apart."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path

_LAMBDA = ast.parse("lambda *any: None", mode="eval").body
assert isinstance(_LAMBDA, ast.Lambda)
ANY_ARGUMENTS = _LAMBDA.args
"""Of an attribute whose type the stubs know, and that may be called."""


@dataclass
class Api:
    """Names of a module or a package of stubs."""

    functions: dict[str, list[ast.arguments]] = field(default_factory=dict)
    """With the arguments of every overload."""
    classes: dict[str, dict[str, list[ast.arguments]]] = field(default_factory=dict)
    """Methods of each."""
    bases: dict[str, list[str]] = field(default_factory=dict)
    values: set[str] = field(default_factory=set)

    def method(self, class_name: str, name: str) -> list[ast.arguments]:
        """Also of the classes above; empty where there is none."""
        if class_name not in self.classes:
            return []
        own = self.classes[class_name].get(name, [])
        return own or next((found for base in self.bases[class_name] if (found := self.method(base, name))), [])

    @property
    def names(self) -> set[str]:
        return {*self.functions, *self.classes, *self.values}


def nuke_api() -> Api:
    """Nuke's, as types-nuke has it."""
    files = [file for file in metadata.files("types-nuke") or () if file.suffix == ".pyi"]
    assert len(files) > 10
    return api_of([Path(str(file.locate())) for file in files])


def api_of(paths: list[Path]) -> Api:
    api = Api()
    for path in paths:
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef):
                api.functions.setdefault(node.name, []).append(node.args)
            elif isinstance(node, ast.ClassDef):
                api.bases[node.name] = [ast.unparse(base) for base in node.bases]
                methods = api.classes.setdefault(node.name, {})
                for item in node.body:
                    if isinstance(item, ast.FunctionDef):
                        methods.setdefault(item.name, []).append(item.args)
                    elif isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name):
                        methods[item.target.id] = [ANY_ARGUMENTS]
            elif isinstance(node, ast.AnnAssign | ast.Assign):
                targets = [node.target] if isinstance(node, ast.AnnAssign) else node.targets
                api.values |= {target.id for target in targets if isinstance(target, ast.Name)}
    return api


def differences(fake: Api, real: Api) -> list[str]:
    """One line for every public name of the fake that Nuke lacks, or takes other arguments by."""
    problems = [f"nuke has no {name}" for name in fake.names - real.names if not name.startswith("_")]
    for name, signatures in fake.functions.items():
        if name in real.functions and not name.startswith("_"):
            problems += _differing(f"nuke.{name}", signatures, real.functions[name])
    for class_name, methods in fake.classes.items():
        for name, signatures in methods.items():
            if class_name in real.classes and not name.startswith("_"):
                found = real.method(class_name, name)
                label = f"nuke.{class_name}.{name}"
                problems += _differing(label, signatures, found) if found else [f"{label} is not in Nuke"]
    return sorted(problems)


def _differing(label: str, fakes: list[ast.arguments], reals: list[ast.arguments]) -> list[str]:
    fits = all(any(_is_compatible(fake, real) for real in reals) for fake in fakes)
    said = " or ".join(ast.unparse(real) for real in reals)
    return [] if fits else [f"{label}({ast.unparse(fakes[0])}) is {label}({said}) in Nuke"]


def _is_compatible(fake: ast.arguments, real: ast.arguments) -> bool:
    """Whether every call that the fake takes is one that Nuke takes too."""
    if real.vararg:
        return True
    ours, theirs = ([argument.arg for argument in arguments.args] for arguments in (fake, real))
    num_needed = len(theirs) - len(real.defaults)
    num_needed_by_fake = len(ours) - len(fake.defaults)
    return not fake.vararg and ours == theirs[: len(ours)] and len(ours) >= num_needed <= num_needed_by_fake
