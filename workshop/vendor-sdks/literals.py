"""Reads the literals of types in Python modules. Expects a JSON list of `module:Name` or `module:Class.field` on stdin.
Prints a JSON list with a list of texts, or {"unreadable": why}, for each type."""
import importlib
import json
import sys
import types
import typing


def literals(kind):
    origin = typing.get_origin(kind)
    if kind is type(None):
        return []
    if origin is typing.Literal:
        return [text for part in typing.get_args(kind) for text in ([part] if isinstance(part, str) else bad(part))]
    if origin in (typing.Union, types.UnionType):
        return [text for part in typing.get_args(kind) for text in literals(part)]
    if getattr(origin, "__name__", getattr(origin, "_name", None)) in ("Required", "NotRequired", "Annotated"):
        return literals(typing.get_args(kind)[0])
    return bad(kind)


def bad(kind):
    raise TypeError(f"it is {kind}")


def read(address):
    module_name, _, name = address.partition(":")
    try:
        owner, _, field = name.partition(".")
        found = getattr(importlib.import_module(module_name), owner)
        if field:
            found = typing.get_type_hints(found)[field]
        return literals(found) or bad(found)
    except Exception as error:  # Every failure is reported as unreadable.
        return {"unreadable": f"{type(error).__name__}: {error}"}


print(json.dumps([read(address) for address in json.load(sys.stdin)]))
