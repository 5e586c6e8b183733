from collections.abc import Callable
from typing import Any, TypeVar

from bpy import props as props
from bpy import types as types

_Handler = TypeVar("_Handler", bound=Callable[..., object])

class _Handlers:
    load_post: list[Callable[..., object]]

    def persistent(self, handler: _Handler) -> _Handler: ...

class _App:
    handlers: _Handlers
    timers: Any
    background: bool
    binary_path: str
    version: tuple[int, int, int]
    version_string: str

app: _App
context: Any
data: Any
ops: Any
path: Any
utils: Any
