"""From what the user gave to a whole recipe: every key that is used, with its value, checked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from ..callables import defaults, fitting, options
from ..errors import InputError
from ..names import DATA, check_method, find, model_function
from ..notation import Value
from .keys import BY_NAME, KEYS, LATER_KEYS, Key, unknown_key
from .source import Given, given
from .written import Recipe, is_function, is_path, ordered

_PERHAPS_WITHOUT_TEST = ("femnist", "shakespeare")  # as LEAF writes them
_NOT_THE_USERS = ("classes", "shape")  # what a model function learns from the data
_NOT_OF_BUILT_INS = (*_NOT_THE_USERS, "targets", "symbols")


def resolve(path: Path | None = None, words: Iterable[str] = ()) -> Recipe:
    """Read a recipe file and KEY=VALUE words into a whole recipe, or say what is wrong."""
    return whole(given(path, words))


def whole(found: Mapping[str, Given]) -> Recipe:
    """Check what was given, choose what was left open, and fill in the rest."""
    extras = _extras(found)
    checked = {key: _check(key, item, extras) for key, item in found.items()}
    values = {**{key.name: key.default for key in KEYS if key.default is not None}, **checked}
    places = {key: item.place for key, item in found.items()}
    _check_method(values, places)
    _choose_data(values, found)
    _choose_length(values, found)
    _drop_unused(values, found)
    _drop_other_models(values, found)
    return with_model(Recipe(ordered(values), places), _model_of(values))


def with_model(recipe: Recipe, name: str) -> Recipe:
    """Settle the model: its own keys are checked, and written out with their defaults.

    ``auto`` stays where the data have to be seen first.
    """
    if name == "auto":
        return recipe
    given_keys = {k: v for k, v in recipe.table("model").items() if k != "name"}
    place = next(
        (recipe.places[f"model.{k}"] for k in given_keys if f"model.{k}" in recipe.places), ""
    )
    try:
        build = model_function(name)
        known = _NOT_THE_USERS if ":" in name else _NOT_OF_BUILT_INS
        fitted = fitting(f"model '{name}'", build, given_keys, but=known)
    except InputError as error:
        raise InputError(f"{place or recipe.places.get('model.name', '')}{error}") from error
    filled = {} if ":" in name else defaults(build, but=known)
    model = {f"model.{k}": v for k, v in {"name": name, **filled, **fitted}.items()}
    others = {k: v for k, v in recipe.values.items() if not k.startswith("model.")}
    return Recipe(ordered({**others, **model}), recipe.places)


def _extras(found: Mapping[str, Given]) -> tuple[str, ...]:
    """Return the tables that take further keys: a model's own, and those of a data function."""
    name = found["data.name"].value if "data.name" in found else ""
    function = isinstance(name, str) and is_function(name)
    return ("model", "data") if function else ("model",)


def _check(key: str, item: Given, extras: tuple[str, ...]) -> Value:
    try:
        if key in BY_NAME:
            value = BY_NAME[key].kind.check(key, item.value)
        elif key.partition(".")[0] in extras and "." in key and key not in LATER_KEYS:
            value = item.value
        else:
            raise unknown_key(key)
        return _absolute(key, value, item.folder)
    except InputError as error:
        raise InputError(f"{item.place}{error}") from error


def _absolute(key: str, value: Value, folder: Path) -> Value:
    paths = key == "data.file" and value != ""
    if isinstance(value, str) and (paths or (key == "data.name" and is_path(value))):
        return str((folder / Path(value).expanduser()).resolve())
    return value


def _check_method(values: Mapping[str, Any], places: Mapping[str, str]) -> None:
    try:
        check_method(values["method"])
    except InputError as error:
        raise InputError(f"{places.get('method', '')}{error}") from error


def _choose_data(values: dict[str, Any], found: Mapping[str, Given]) -> None:
    name = values["data.name"]
    if not is_path(name) and not is_function(name):
        try:
            find("data set", name, DATA)
        except InputError as error:
            way = "a path of an .npz or a folder, module:function"
            raise InputError(f"{found['data.name'].place}{error}, {way}") from error
    if values["data.partition"] == "auto":
        tokens = any(entry.name == name and entry.model == "gru" for entry in DATA)
        values["data.partition"] = "natural" if tokens else "dirichlet"
    if values["data.partition"] in ("natural", "file") and "data.clients" not in found:
        del values["data.clients"]
    if values["data.partition"] == "file" and not values["data.file"]:
        place = found["data.partition"].place
        raise InputError(
            f'{place}data.partition="file" needs data.file: the path of an .npz with `owner`'
        )


def _choose_length(values: dict[str, Any], found: Mapping[str, Given]) -> None:
    """Keep epochs or steps: both from one place is an error, else the command line wins."""
    both = [found[key] for key in ("local.epochs", "local.steps") if key in found]
    if len(both) == 2 and both[0].on_command_line == both[1].on_command_line:
        raise InputError(
            f"{both[1].place}local.epochs and local.steps exclude each other: give one of the two"
        )
    steps = "local.steps" in found and (len(both) == 1 or found["local.steps"].on_command_line)
    values.pop("local.epochs" if steps else "local.steps", None)


def _drop_unused(values: dict[str, Any], found: Mapping[str, Given]) -> None:
    partition = values["data.partition"]
    for key in KEYS:
        unused = _unused(key, values, partition)
        if (
            unused
            and key.name in found
            and not _overruled(found, key.name, "data.partition", "data.name")
        ):
            raise InputError(
                f"{found[key.name].place}{key.name} is not used: {unused}; leave it out"
            )
        if unused:
            values.pop(key.name, None)


def _drop_other_models(values: dict[str, Any], found: Mapping[str, Given]) -> None:
    """Drop keys of a file's model that the command line's model does not take."""
    name = values["model.name"]
    keys = [key for key in values if key.startswith("model.") and key not in BY_NAME]
    old = [key for key in keys if _overruled(found, key, "model.name")]
    if not old or name == "auto":
        return
    try:
        taken = options(model_function(name))
    except InputError:
        return  # said where the model is settled
    for key in old:
        if key.removeprefix("model.") not in taken:
            del values[key]


def _overruled(found: Mapping[str, Given], key: str, *choices: str) -> bool:
    """Say whether a key of a file lost its use by a choice that the command line made anew."""
    newer = any(name in found and found[name].on_command_line for name in choices)
    return newer and not found[key].on_command_line


def _unused(key: Key, values: Mapping[str, Any], partition: str) -> str:
    if key.partitions and partition not in key.partitions:
        keys = [k.name for k in KEYS if partition in k.partitions]
        own = f" (its own: {', '.join(keys)})" if keys else ""
        belongs = ", ".join(key.partitions)
        return f"data.partition is {partition}{own}, and the key belongs to {belongs}"
    name = values["data.name"]
    if key.sets and name not in key.sets and not (key.name == "data.labels" and is_path(name)):
        return f"data.name is {name}, and the key belongs to {', '.join(key.sets)}"
    whole = not is_path(name) and not is_function(name) and name not in _PERHAPS_WITHOUT_TEST
    if key.name == "data.test_share" and whole:
        return f"{name} has a test part of its own"
    return ""


def _model_of(values: Mapping[str, Any]) -> str:
    name: str = values["model.name"]
    if name != "auto":
        return name
    suits = {entry.name: entry.model for entry in DATA}
    return suits.get(values["data.name"], "auto")
