"""Sentences in Python code and in templates of HTML.

A sentence is taken as code holds it. An f-string becomes a sentence with values: the value gets the
last name in its expression, so `{case.figure.value:g}` becomes `{value}`. Advice names its values
itself.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from pathlib import Path

from jinja2 import Environment, nodes

#: What a function is called that translates its argument.
MARK = "words"
#: The same function in a template.
MARK_IN_TEMPLATES = "translated"
#: What stands for one of two words, as the `s` of a plural does; a translation may do without.
OF_ENGLISH = "word"
#: A text with fewer words of its own is no sentence.
_FEWEST_WORDS = 3
_FEWEST_WORDS_OF_PIECE = 2
_WORD = re.compile(r"[A-Za-z]{2,}")
#: A word as `labs.languages.po_file` finds it in a sentence.
_ONE_WORD = re.compile(r"[a-z]*")
#: A value that a text holds which is no f-string.
_NUMBERED = re.compile(r"\{number_\d\}")
_FUNCTION = (ast.FunctionDef, ast.AsyncFunctionDef)
#: Calls that take a sentence with values, and each value under its name.
_TAKE_VALUES = frozenset({"advice", "CannotEstimate"})
#: Calls whose texts a reader sees, even if each has one word only.
_SHOWN = frozenset({"Message", "Table", "Point"})
#: The names of constants with the heads of tables.
_HEADS = re.compile(r"\w*HEADER|LABELS|header")
#: What a page or Python reads, and no person: styles, HTML, lines of code.
_NOT_READ = re.compile(
    r"\s*(?:<|row wrap|repeat\(|[\d ]+px|\^|\\A|static\[|invalid storage|function definition"
    r"|grader check: |lab\.\w+\(\"|run = lab|\.\.\. |strace: |transferring control$"
    r"|binding file |\{\"|(?:offset points|axes fraction|by span|made by new_figure)$)"
)


def marked(path: Path) -> Iterator[str]:
    """Every text that the code gives to `words(...)`, or a template to `translated(...)`."""
    source = path.read_text(encoding="utf-8")
    if path.suffix == ".jinja":
        for call in Environment().parse(source).find_all(nodes.Call):
            if isinstance(call.node, nodes.Name) and call.node.name == MARK_IN_TEMPLATES:
                yield from (each.value for each in call.args if isinstance(each, nodes.Const))
        return
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == MARK:
            texts = (text for each in node.args for text, _ in _texts(each))
            yield from (text for text in texts if _WORD.search(text))


def with_values(path: Path) -> Iterator[tuple[str, bool]]:
    """Every text that the module gives to a call which puts values into it."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and _called(node) in _TAKE_VALUES:
            yield from ((text, "{" in text) for each in node.args for text, _ in _texts(each))


def raised(path: Path) -> Iterator[tuple[str, bool]]:
    """Every text that the module gives to an error, as a message to a student has it."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Raise) and node.exc is not None:
            yield from (each for each in _texts(node.exc) if _is_read(each[0]))


def in_functions(path: Path, wanted: Callable[[str], bool]) -> Iterator[tuple[str, bool]]:
    """Every text that a function of this module says and that is wanted, and whether it holds
    values."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for function in ast.walk(tree):
        if isinstance(function, _FUNCTION):
            body = function.body[1:] if ast.get_docstring(function) is not None else function.body
            for statement in body:
                yield from (each for each in _texts(statement) if wanted(each[0]))


def on_the_screen(path: Path) -> Iterator[tuple[str, bool]]:
    """Every text of a module that a student may see, and whether it holds values: sentences and
    pieces of several words, in functions and in constants, and each word of a table's head."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    yield from in_functions(path, _is_read)
    for statement in tree.body:
        if isinstance(statement, ast.Assign | ast.AnnAssign):
            yield from (each for each in _texts(statement) if _is_read(each[0]))
    for node in ast.walk(tree):
        named = getattr(node, "func", None) or next(iter(getattr(node, "targets", ())), None)
        name = named.id if isinstance(named, ast.Name) else ""
        if isinstance(node, ast.Call | ast.Assign) and (name in _SHOWN or _HEADS.fullmatch(name)):
            parts = node.args if isinstance(node, ast.Call) else [node.value]
            if isinstance(parts[0], ast.Dict):
                parts = parts[0].values
            for part in parts[1:2] if name == "Message" else parts:
                yield from (each for each in _texts(part) if _words_in(each[0]) > 0)


def _is_read(text: str) -> bool:
    return (is_sentence(text) or is_piece(text)) and not _NOT_READ.match(text)


def is_sentence(text: str) -> bool:
    """Whether a text has enough words, and begins and ends as a sentence does."""
    return (
        _words_in(text) >= _FEWEST_WORDS
        and (text[0].isupper() or text[0] == "{")
        and text.rstrip()[-1] in ".?:"
    )


def is_piece(text: str) -> bool:
    """Whether a text is several words that may stand as a value in a sentence."""
    # What has "%s" goes to a log.
    return " " in text.strip() and "%s" not in text and _words_in(text) >= _FEWEST_WORDS_OF_PIECE


def _words_in(text: str) -> int:
    return len(_WORD.findall(re.sub(r"\{\w+\}", "", text)))


def _texts(node: ast.AST) -> Iterator[tuple[str, bool]]:
    """The texts in a piece of code, each as a whole, in the order of the code."""
    if isinstance(node, ast.JoinedStr):
        yield _of_parts(node), True
        node = ast.List([part for part in node.values if isinstance(part, ast.FormattedValue)])
    elif isinstance(node, ast.Call) and _called(node) in _TAKE_VALUES:
        yield from ((text, "{" in text) for each in node.args for text, _ in _texts(each))
        node = ast.List([each.value for each in node.keywords])
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value, bool(_NUMBERED.search(node.value))
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, _FUNCTION):
            yield from _texts(child)


def _called(call: ast.Call) -> str:
    return call.func.id if isinstance(call.func, ast.Name) else ""


def _of_parts(text: ast.JoinedStr) -> str:
    names: dict[str, str] = {}
    found = ""
    for part in text.values:
        if isinstance(part, ast.FormattedValue):
            found += f"{{{_name(part.value, names)}}}"
        elif isinstance(part, ast.Constant):
            found += str(part.value).replace("{", "{{").replace("}", "}}")
    return found


def _name(value: ast.expr, names: dict[str, str]) -> str:
    """The name of a value; `names` holds those of the sentence so far, by the code of each."""
    code = ast.unparse(value)
    if code not in names:
        plain = _last_name(value)
        taken = set(names.values())
        number = next(n for n in range(1, 100) if (plain if n < 2 else f"{plain}_{n}") not in taken)
        names[code] = plain if number < 2 else f"{plain}_{number}"
    return names[code]


def _last_name(value: ast.expr) -> str:
    if isinstance(value, ast.Name):
        return value.id.strip("_")
    if isinstance(value, ast.Attribute):
        return value.attr.strip("_")
    if isinstance(value, ast.Call):
        named = _last_name(value.func)
        # rounded(x) and ", ".join(x) are named after x
        return _last_name(value.args[0]) if named in _OF_ARGUMENT and value.args else named
    if isinstance(value, ast.Subscript | ast.Starred):
        return _last_name(value.value)
    if isinstance(value, ast.BinOp):
        return _last_name(value.left)
    if isinstance(value, ast.IfExp):
        two = (value.body, value.orelse)
        texts = [str(each.value) for each in two if isinstance(each, ast.Constant)]
        if len(texts) == len(two) and all(map(_ONE_WORD.fullmatch, texts)):
            return OF_ENGLISH
        return _last_name(value.body)
    if isinstance(value, ast.GeneratorExp | ast.ListComp):
        return _last_name(value.elt)
    return "value"


_OF_ARGUMENT = frozenset({"rounded", "join", "with_unit", "round", "abs", "len", "sorted", "map"})
