"""Writes docs/python-api.md from the docstrings of the package.

    python python/tools/api_reference.py            # write
    python python/tools/api_reference.py --check    # say whether it is up to date

Public names are those in `__all__` of every public module. Sections of a docstring become headings
and lists; nothing is added to what the docstrings say.
"""

import importlib
import inspect
import re
import sys
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "docs" / "python-api.md"
MODULES = [
    "strtransformer",
    "strtransformer.mne",
    "strtransformer.baselines",
    "strtransformer.datasets",
    "strtransformer.metrics",
]
HEAD = """# Python: reference

Made from the docstrings by `python python/tools/api_reference.py`. The guide is
[python.md](python.md).
"""


def page():
    """The text of the page."""
    told, parts, contents, anchors = set(), [HEAD], [], {}

    def link(name):
        """As GitHub makes anchors: those of the same text are counted."""
        anchor = re.sub(r"[^\w-]", "", name.lower())
        times = anchors[anchor] = anchors.get(anchor, -1) + 1
        return f"[`{name}`](#{anchor}{f'-{times}' if times else ''})"

    for name in MODULES:
        module = importlib.import_module(name)
        entries = []
        for public in module.__all__:
            value = getattr(module, public)
            if inspect.ismodule(value) or public.startswith("__") or id(value) in told:
                continue
            told.add(id(value))
            entries.append((public, value))
        contents.append(f"- {link(name)}: " + ", ".join(link(public) for public, _ in entries))
        parts.append(f"## {name}\n\n{_prose(inspect.getdoc(module) or '')}")
        parts += [_entry(public, value) for public, value in entries]
    parts.insert(1, "\n".join(contents))
    return "\n\n".join(part.strip("\n") for part in parts) + "\n"


def _entry(name, value):
    if not callable(value):
        return f"### {name}\n\n`{value!r}`"
    text = [f"### {name}"]
    if not (inspect.isclass(value) and issubclass(value, BaseException)):
        text.append(f"```text\n{_signature(name, value)}\n```")
    text.append(_sections(inspect.getdoc(value) or ""))
    if inspect.isclass(value):
        for method, member in _members(value):
            text.append(f"#### {name}.{method}")
            if callable(member):
                text.append(f"```text\n{_signature(method, member)}\n```")
            text.append(_sections(inspect.getdoc(member)))
    return "\n\n".join(part for part in text if part)


def _members(kind):
    """Public methods and properties with a docstring, those of ``_judging`` included: in the order
    of the source, or of the alphabet where there is none.
    """
    parts = [part for part in kind.__mro__ if part is kind or part.__module__.endswith("._judging")]
    found = [
        (name, member)
        for part in parts
        for name, member in vars(part).items()
        if not name.startswith("_")
        and (
            inspect.isfunction(member)
            or inspect.isdatadescriptor(member)
            or inspect.ismethoddescriptor(member)
        )
        and type(member).__module__ == "builtins"
        and inspect.getdoc(member)
    ]
    return sorted(found) if kind.__module__.endswith("._core") else found


def _signature(name, value):
    try:
        signature = inspect.signature(value)
    except ValueError:
        return name
    # Kinds are told in the docstring.
    plain = [
        parameter.replace(annotation=inspect.Parameter.empty)
        for parameter in signature.parameters.values()
    ]
    signature = str(inspect.Signature(plain))
    signature = signature.replace("(self, ", "(").replace("(self)", "()")
    line = name + signature
    if len(line) <= 110:
        return line
    inner = ",\n    ".join(re.split(r", (?![^\[({]*[\])}])", signature[1 : signature.rindex(")")]))
    return f"{name}(\n    {inner},\n)"


def _sections(doc):
    """A numpydoc docstring: prose, then sections."""
    pieces = re.split(r"^([A-Z]\w+)\n-{3,}\n", doc, flags=re.MULTILINE)
    text = [_prose(pieces[0])]
    for title, body in zip(pieces[1::2], pieces[2::2]):
        text.append(f"**{title}**")
        if title in ("Notes", "Examples", "References"):
            text.append(f"```python\n{body.strip()}\n```" if title == "Examples" else _prose(body))
        else:
            text.append(_items(body))
    return "\n\n".join(part for part in text if part)


def _items(body):
    """Entries `name : kind` with indented descriptions, as a list."""
    lines = []
    for block in re.split(r"\n(?=\S)", body.strip("\n")):
        head, _, rest = block.partition("\n")
        rest = " ".join(line.strip() for line in rest.splitlines())
        name, colon, kind = head.partition(" : ")
        label = f"`{name}` ({kind})" if colon else f"`{head}`"
        lines.append(f"- {label}" + (f": {_prose(rest)}" if rest else ""))
    return "\n".join(lines)


def _prose(text):
    """Sphinx roles and double backticks as Markdown has them."""
    text = re.sub(r":\w+:`~?([^`]+)`", r"`\1`", text.strip())
    return text.replace("``", "`")


def main():
    text = page()
    if "--check" in sys.argv[1:]:
        if not PAGE.is_file() or PAGE.read_text(encoding="utf-8") != text:
            sys.exit(f"{PAGE.name} is not up to date: run `python python/tools/api_reference.py`")
    else:
        PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
