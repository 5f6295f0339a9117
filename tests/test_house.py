"""The house rules: what imports what, what is public, what is heavy, and how long things are."""

from __future__ import annotations

import ast
import doctest
import importlib
import pkgutil
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import fedkeel

SOURCE = Path(fedkeel.__file__).parent
FILES = sorted(SOURCE.rglob("*.py"))
NAMES = {path: ".".join(path.relative_to(SOURCE).with_suffix("").parts) for path in FILES}
HEAVY = ("matplotlib", "scipy", "rich", "typer", "click", "safetensors", "hypothesis", "pytest")


def modules() -> list[str]:
    found = pkgutil.walk_packages([str(SOURCE)], "fedkeel.")
    return sorted(info.name for info in found if not info.name.endswith("__main__"))


def imports(path: Path, *, nested: bool = True) -> Iterator[str]:
    """Yield what a file imports of the package, as dotted names below it; types do not count."""
    here = NAMES[path].split(".")
    package = here[:-1]
    for node in _statements(ast.parse(path.read_text()), nested):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = package[: len(package) - node.level + 1]
            module = [*base, *(node.module or "").split(".")] if node.module else base
            for alias in node.names:
                joined = ".".join([*module, alias.name])
                yield joined if joined in NAMES.values() else ".".join(module)
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("fedkeel"):
            yield (node.module or "").removeprefix("fedkeel").removeprefix(".")
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.split(".")[0] == "fedkeel":
                    yield alias.name.removeprefix("fedkeel").removeprefix(".")


def _statements(tree: ast.AST, nested: bool) -> Iterator[ast.AST]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            continue
        if isinstance(node, ast.FunctionDef) and not nested:
            continue
        yield node
        yield from _statements(node, nested)


# Storeys, from the ground: a file sees its own storey and those below.
STOREYS: list[tuple[str, ...]] = [
    ("errors", "notation", "numerics", "printing", "schedule", "callables", "trees", "skew"),
    ("layout", "draws", "numbers"),
    ("task",),
    ("part",),
    ("composition", "transforms"),
    ("rounds",),
    ("data", "models", "settings"),
    ("methods",),
    ("engines", "errands", "evaluation", "checks"),
    ("loop", "arithmetic", "history"),
    ("results", "listeners"),
    ("session",),
    ("testing", "papers", "names", "spoken"),
    ("stored", "recipe"),
    ("cli",),
    ("__init__", "__main__"),
]
STOREY = {name: height for height, names in enumerate(STOREYS) for name in names}


def home(name: str) -> str:
    return name.split(".")[0] or "__init__"


def test_every_module_has_a_storey() -> None:
    assert {home(name) for name in NAMES.values()} <= set(STOREY)


@pytest.mark.parametrize("path", FILES, ids=list(NAMES.values()))
def test_imports_point_down(path: Path) -> None:
    """Imports inside functions may point up (a lazy door); those of the module may not."""
    for name in imports(path, nested=False):
        assert STOREY[home(name)] <= STOREY[home(NAMES[path])], f"{NAMES[path]} imports {name}"


def seen_by(*prefixes: str) -> set[str]:
    return {
        home(name)
        for path in FILES
        if home(NAMES[path]) in prefixes
        for name in imports(path)
        if home(name) not in prefixes
    }


def test_methods_see_parts_and_transforms_alone() -> None:
    allowed = {"part", "composition", "transforms", "numerics", "errors", "layout"}
    assert seen_by("methods") <= allowed


def test_only_the_table_of_names_the_front_door_and_the_tests_import_methods() -> None:
    importing = {NAMES[p] for p in FILES for name in imports(p) if home(name) == "methods"}
    assert {home(n) for n in importing if home(n) != "methods"} <= {"names", "testing", "__init__"}


def test_only_the_session_and_the_tests_know_an_engine() -> None:
    """What an engine is given and gives back (engines.base) is known below them, no engine is."""
    importing = {
        NAMES[p]
        for p in FILES
        for name in imports(p)
        if home(name) == "engines" and name != "engines.base"
    }
    assert {home(n) for n in importing} <= {"engines", "session", "testing"}


def test_results_import_neither_engines_nor_torch() -> None:
    for path in FILES:
        if home(NAMES[path]) == "results":
            tree = ast.parse(path.read_text())
            taken = {a.name.split(".")[0] for n in ast.walk(tree) if isinstance(n, ast.Import)
                     for a in n.names}  # fmt: skip
            taken |= {(n.module or "").split(".")[0] for n in ast.walk(tree)
                      if isinstance(n, ast.ImportFrom) and not n.level}  # fmt: skip
            assert "torch" not in taken, NAMES[path]
    assert seen_by("results") <= {"errors", "notation", "numerics", "skew"}


def test_oracles_import_torch_alone() -> None:
    for path in FILES:
        if NAMES[path].startswith("testing.oracles"):
            assert all(name.startswith("testing.oracles") for name in imports(path)), NAMES[path]


# --- what is public ---


def test_all_is_sorted_and_true() -> None:
    for name in ["fedkeel", *modules()]:
        module = importlib.import_module(name)
        listed = getattr(module, "__all__", None)
        if listed is not None:
            by_kind = sorted(listed, key=lambda word: (_kind(word), word))
            assert list(listed) in (sorted(listed), by_kind), name
            assert len(set(listed)) == len(listed), name
            assert all(hasattr(module, word) for word in listed), name


def _kind(word: str) -> int:
    """Constants, then classes, then the rest, as ruff has it."""
    return 0 if word.isupper() else 1 if word[0].isupper() else 2


def test_every_public_name_reads_the_same_after_every_module_was_imported() -> None:
    first = {name: getattr(fedkeel, name) for name in fedkeel.__all__}
    for name in modules():
        importlib.import_module(name)
    assert all(getattr(fedkeel, name) is value for name, value in first.items())
    assert set(dir(fedkeel)) >= set(fedkeel.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        fedkeel.nothing  # noqa: B018


def test_every_public_name_reads_the_same_where_modules_were_imported_first() -> None:
    """In a fresh process: no module may take the place of the object of its name."""
    program = (
        "import importlib, pkgutil, types, fedkeel\n"
        "for m in pkgutil.walk_packages(fedkeel.__path__, 'fedkeel.'):\n"
        "    if not m.name.endswith('__main__'): importlib.import_module(m.name)\n"
        "allowed = {'data', 'models', 'testing'}\n"
        "print([n for n in fedkeel.__all__ for _ in range(2)\n"
        "       if isinstance(getattr(fedkeel, n), types.ModuleType) != (n in allowed)])"
    )
    assert _python(program) == "[]"


def test_the_promised_names_are_there() -> None:
    promised = (
        "Task algorithm run train load method compose Part FedAvg FedProx Clip fed_avg_m fed_adam "
        "fed_yogi fed_adagrad local_gc global_gc gc_fed fed_zmg data models testing __version__"
    )
    assert set(promised.split()) <= set(fedkeel.__all__)
    assert {"check_part", "PartError"} <= set(fedkeel.testing.__all__)
    assert (SOURCE / "py.typed").exists()
    assert re.fullmatch(r"\d+\.\d+\.\d+.*", fedkeel.__version__)


# --- what is heavy ---


def _python(program: str) -> str:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


LOADED = f"print(sorted({{m.split('.')[0] for m in sys.modules}} & set({HEAVY!r})))"


def test_importing_brings_nothing_heavy() -> None:
    program = f"import sys, fedkeel; {LOADED}; print('torch' in sys.modules)"
    assert _python(program) == "[]\nFalse"


def test_running_brings_nothing_heavy() -> None:
    program = (
        "import sys, numpy as np, torch, fedkeel as fk\n"
        "source = fk.data.from_arrays(np.zeros((12, 2)), np.arange(12) % 3)\n"
        "split = source.split(fk.data.IID(), clients=2)\n"
        "fk.train(fk.algorithm(fk.gc_fed()), fk.Task(torch.nn.Sequential(torch.nn.Linear(2, 3))),\n"
        "         split, rounds=1, cohort=2, compile=False)\n"
        f"{LOADED}"
    )
    assert _python(program) == "[]"


# --- what is never done ---

GLOBAL = re.compile(
    r"manual_seed|fork_rng|set_rng_state|default_generator|np\.random\.(seed|rand|randn|randint|shuffle"
    r"|permutation|choice|normal)\(|^\s*import random|set_default_dtype|set_grad_enabled\("
)


def test_no_global_generator_and_no_global_setting_is_touched() -> None:
    touched = [
        f"{NAMES[path]}: {line.strip()}"
        for path in FILES
        for line in path.read_text().splitlines()
        if GLOBAL.search(line) and not _allowed(NAMES[path], line)
    ]
    assert touched == []


def _allowed(name: str, line: str) -> bool:
    """The command line builds a module under a generator of the run's seed."""
    return name == "recipe.job" and ("fork_rng" in line or "manual_seed" in line)


def test_no_comment_promises_anything() -> None:
    promising = [NAMES[p] for p in FILES if re.search(r"\b(TODO|FIXME|XXX)\b", p.read_text())]
    assert promising == []


# --- how long things are ---


@pytest.mark.parametrize("path", FILES, ids=list(NAMES.values()))
def test_files_and_functions_are_short(path: Path) -> None:
    text = path.read_text()
    assert len(text.splitlines()) <= 300
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            assert _length(node) <= 50, f"{node.name} has {_length(node)} lines"


def _length(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Lines of code: neither the signature nor the docstring."""
    documented = ast.get_docstring(node) is not None
    body = node.body[1:] if documented else node.body
    return (node.end_lineno or 0) - body[0].lineno + 1 if body else 0


# --- examples run ---


@pytest.mark.parametrize("name", ["fedkeel", *modules()])
def test_doctests(name: str) -> None:
    module = importlib.import_module(name)
    needed = {"nn": importlib.import_module("torch.nn"), "torch": importlib.import_module("torch")}
    finder = doctest.DocTestFinder(exclude_empty=True)
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.IGNORE_EXCEPTION_DETAIL)
    for test in finder.find(module, name, extraglobs=needed):
        if test.examples:
            runner.run(test)
    assert runner.failures == 0
