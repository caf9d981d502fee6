"""JSON Schemas of what commands write: derived from the documents that tests write, and put into docs/schemas.

    python tools/schemas.py              # run the tests of commands, slow ones too, and derive the schemas
    python tools/schemas.py build/json   # derive them from what tests wrote before, with VENIRE_JSON=build/json

Tests check every document that a command writes against the schema, so that a change of the JSON needs a change here.
Keys that all documents have are required, other known ones are optional, and further ones are not allowed.  A number
may be null, which stands for what is not known, and so may every key that is null in some document.  A command that
writes different documents (``agreement``, ``preferences``) has a schema for each, told apart by their first key.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parents[1] / "docs"
FOLDER, PAGE = DOCS / "schemas", DOCS / "reference" / "json.md"
MARK = "<!-- The rest of this page is written by tools/schemas.py. -->"
DIALECT = "https://json-schema.org/draft/2020-12/schema"

MAPS = (
    r"inspect\.files\[\]\.facts\.(label_counts(\.\*)?|labels_per_item)",
    r"judge-ask\.reasons",
    r"report\.front\.disputed\[\]\.labels",
    r"report\.front\.leaderboard\[\]\.by_judge",
    r"(report|demo)\..*parts\[\](<table>)?\.rows\[\]",
    r"scales\.meanings",
    r"saved-.*\.(features|weights|classes)",
    r"setting-.*\.setting(\..*)?",
)
"""Objects whose keys are names of the data, such as labels or judges, or depend on the setting."""
OPEN = (r"inspect\.files\[\]\.facts",)
"""Objects that hold what is known of a file, which depends on its format: keys are optional, and more may follow."""
NEVER_SEEN = {
    **dict.fromkeys(("agreement_drift", "agreement_drift_p", "drift", "drift_p", "minutes", "seconds"), "number"),
    **dict.fromkeys(("gain_low", "gain_high", "alpha", "agreement"), "number"),
    **dict.fromkeys(("pool", "relevant"), "string"),
    **dict.fromkeys(("copy_of", "never", "nearly_always", "twins", "observed", "reference", "warnings"), "string"),
    **dict.fromkeys(("notes", "systems_best_first"), "string"),
}
"""Kinds of values, and of elements of lists, of which tests have none at some place."""
OTHER_TESTS = (
    "json",
    "outputs",
    "browser",
    "judging_browser",
    "judging_load",
    "sanitizers",
    "distribution",
    "notebook",
)
"""Tests that write no JSON of commands, or that make it wrong or interrupt it on purpose."""
BY_KIND = (r".*\.parts\[\]",)
"""Lists of objects that differ by their ``kind``."""
WORDS = {
    "a": "the first of a pair: a system, an assessor, a label",
    "alpha": "Krippendorff's alpha, or the weight of conditional labels",
    "assessor": "who gave the labels; null where labels are pooled",
    "b": "the second of a pair",
    "delta": "mean of a minus mean of b",
    "doc": "the document",
    "gain": "the value of a label",
    "high": "upper limit of the confidence interval",
    "hint": "what to do about it",
    "hits": "pairs whose second label is relevant",
    "inputs": "the files that were read",
    "judge": "whose labels count",
    "label": "a label of the scale",
    "low": "lower limit of the confidence interval",
    "made_with": "what the result can be traced by",
    "mean": "mean over topics",
    "measure": "the name of the measure",
    "method": "how the number was computed",
    "name": "its name",
    "n_items": "number of items",
    "n_raters": "number of assessors",
    "notes": "what a reader must know",
    "p": "probability",
    "p_adjusted": "p-value, adjusted for the number of comparisons",
    "p_flips": "probability that another judge reverses the order",
    "p_stays_ahead": "probability that the order stays under another judge",
    "p_tie": "probability of a tie under another judge",
    "p_value": "p-value of the test",
    "pairs": "pairs, or their number",
    "probability": "probability",
    "rank": "rank, from 1",
    "reason": "why there is no number; null where there is one",
    "relevant": "the lowest label that counts as relevant",
    "schema": "name and version of this schema",
    "sd": "standard deviation",
    "sentence": "the main finding",
    "sha256": "fingerprint of the file",
    "share": "share, from 0 to 1",
    "size": "its size",
    "system": "the system",
    "tau": "Kendall's tau",
    "topic": "the topic; all for the mean over topics",
    "topics": "topics, or their number",
    "value": "the number",
    "version": "version of Venire",
    "warnings": "what may be wrong",
}
"""Descriptions of keys."""

Schema = dict[str, Any]


def shape(value: Any) -> Any:
    """Return what a document looks like, without its values."""
    if isinstance(value, dict):
        return {name: shape(each) for name, each in value.items()}
    if isinstance(value, list):
        return [json.loads(each) for each in sorted({json.dumps(shape(one), sort_keys=True) for one in value})]
    return _kind(value)


def _kind(value: Any) -> str:
    names = {str: "string", bool: "boolean", int: "integer", float: "number", type(None): "null"}
    return names.get(type(value)) or ("object" if isinstance(value, dict) else "array")


def derived(values: Sequence[Any], place: str, nullable: Mapping[str, set[str]]) -> Schema:
    """Return the schema of values that occur at one place; nullable: kinds by key, of keys that are null somewhere."""
    kinds, name = {_kind(value) for value in values}, place.rpartition(".")[2]
    if kinds == {"null"} and name in NEVER_SEEN:
        kinds.add(NEVER_SEEN[name])
    if name in nullable and not kinds & {"object", "array"}:
        kinds |= nullable[name] if kinds == {"null"} else {"null"}
    if "number" in kinds:
        kinds = kinds - {"integer"} | {"null"}
    found: Schema = {"type": min(kinds) if len(kinds) == 1 else sorted(kinds)} if kinds - {"null"} else {}
    objects = [value for value in values if isinstance(value, dict)]
    if objects and _is_any(BY_KIND, place):
        return {
            "anyOf": [_of_kind(kind, objects, place, nullable) for kind in sorted({each["kind"] for each in objects})]
        }
    if objects:
        found |= _of_objects(objects, place, nullable)
    held = [each for value in values if isinstance(value, list) for each in value]
    if held or ("array" in kinds and name in NEVER_SEEN):
        found["items"] = derived(held, f"{place}[]", nullable) if held else {"type": NEVER_SEEN[name]}
    return found


def _is_any(patterns: Iterable[str], place: str) -> bool:
    return any(re.fullmatch(each, place) for each in patterns)


def _of_kind(kind: str, objects: Sequence[dict[str, Any]], place: str, nullable: Mapping[str, set[str]]) -> Schema:
    own = [each for each in objects if each["kind"] == kind]
    found = {"type": "object"} | _of_objects(own, f"{place}<{kind}>" if kind == "table" else place, nullable)
    found["properties"]["kind"] = {"const": kind}
    return found


def _of_objects(objects: Sequence[dict[str, Any]], place: str, nullable: Mapping[str, set[str]]) -> Schema:
    if _is_any(MAPS, place):
        held = [each for value in objects for each in value.values()]
        return {"additionalProperties": derived(held, f"{place}.*", nullable)}
    required = [name for name in objects[0] if all(name in each for each in objects)]
    members = {}
    for name in required + sorted({name for each in objects for name in each} - set(required)):
        held = [each[name] for each in objects if name in each]
        members[name] = derived(held, f"{place}.{name}", nullable)
        members[name] |= {"description": WORDS[name]} if name in WORDS else {}
    if _is_any(OPEN, place):
        return {"properties": members}
    return {"properties": members, "required": required, "additionalProperties": False}


def schema_of(name: str, documents: Sequence[dict[str, Any]], nullable: Mapping[str, set[str]]) -> Schema:
    """Return the schema of the documents of a command, or of a saved file; several if they begin differently."""
    groups = defaultdict(list)
    for each in documents:
        groups[next(iter(each))].append(each)
    variants = [{"type": "object"} | _of_objects(groups[first], name, nullable) for first in sorted(groups)]
    for each in variants:
        if "schema" in each["properties"]:
            each["properties"]["schema"] = {"const": documents[0]["schema"], "description": WORDS["schema"]}
    head = {"$schema": DIALECT, "$id": documents[0].get("schema", f"urn:venire:{name}:1"), "title": title_of(name)}
    return head | (variants[0] if len(variants) == 1 else {"anyOf": variants})


def title_of(name: str) -> str:
    """Return what a schema is of."""
    kind, _, rest = name.partition("-")
    return {"saved": f"File of a saved {rest}", "setting": f"Setting of simulated {rest}"}.get(
        kind, f"JSON of venire {name.replace('-', ' ')}"
    )


def null_keys(documents: Iterable[Any]) -> dict[str, set[str]]:
    """Return the keys that are null in some document, with the kinds of their other values."""
    kinds: dict[str, set[str]] = defaultdict(set)

    def walk(value: Any) -> None:
        for name, each in value.items() if isinstance(value, dict) else ():
            kinds[name].add(_kind(each))
        for each in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
            walk(each)

    for document in documents:
        walk(document)
    return {name: found - {"object", "array"} for name, found in kinds.items() if "null" in found}


# --- the page ---------------------------------------------------------------------------------------------------


def section(name: str, schema: Schema) -> str:
    """Describe a schema for the page: a row for each object, with its keys and their types."""
    parts = [f"## {schema['title']}", f"[{name}.json](../schemas/{name}.json)"]
    for variant in schema.get("anyOf", [schema]):
        rows = [f"| {f'`{place}`' if place else ''} | {keys} |" for place, keys in _rows(variant, "")]
        parts.append("\n".join(["| object | keys |", "| --- | --- |", *rows]))
    return "\n\n".join(parts)


def _rows(schema: Schema, place: str) -> Iterator[tuple[str, str]]:
    """Yield the place of every object within a schema, and its keys."""
    for each in schema.get("anyOf", [schema]):
        members = each.get("properties", {})
        if members:
            required = each.get("required", ())
            yield place, ", ".join(_key(name, member, name in required) for name, member in members.items())
        for name, member in members.items():
            if name != "made_with":
                yield from _rows(member, f"{place}.{name}".strip("."))
        if isinstance(each.get("additionalProperties"), dict):
            yield from _rows(each["additionalProperties"], f"{place}.*")
        if "items" in each:
            yield from _rows(each["items"], f"{place}[]")


def _key(name: str, member: Schema, required: bool) -> str:
    kinds = member.get("type", [])
    kind = f"`{member['const']}`" if "const" in member else " or ".join([kinds] if isinstance(kinds, str) else kinds)
    return f"`{name}`{'' if required else '?'} {kind}".rstrip()


def page(schemas: Mapping[str, Schema], opening: str) -> str:
    """Return the page: what stands above the mark, and a section for each schema."""
    return (
        "\n\n".join([opening.partition(MARK)[0].rstrip(), MARK, *(section(*each) for each in schemas.items())]) + "\n"
    )


def written(folder: Path = FOLDER) -> dict[str, Schema]:
    """Read the schemas."""
    return {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.json"))}


def write(documents: Path) -> None:
    """Derive the schemas from a folder of documents, and write them and the page."""
    held: dict[str, list[Any]] = defaultdict(list)
    for path in sorted(documents.glob("*.json")):
        held[path.name.partition("=")[0]].append(json.loads(path.read_text(encoding="utf-8")))
    nullable = null_keys(each for group in held.values() for each in group)
    FOLDER.mkdir(exist_ok=True)
    for name, group in held.items():
        text = json.dumps(schema_of(name, group, nullable), ensure_ascii=False, indent=1) + "\n"
        (FOLDER / f"{name}.json").write_text(text, encoding="utf-8")
    PAGE.write_text(page(written(), PAGE.read_text(encoding="utf-8")), encoding="utf-8")


def collect(folder: Path) -> None:
    """Run the tests of commands, which write one document of each shape into the folder; all have to pass."""
    others = [f"--ignore=tests/contract/test_{name}.py" for name in OTHER_TESTS]
    run = [sys.executable, "-m", "pytest", "-q", "-n", "auto", "tests/unit/cli", "tests/contract", *others]
    subprocess.run(run, cwd=DOCS.parent, env=os.environ | {"VENIRE_JSON": str(folder)}, check=True)


if __name__ == "__main__":
    if sys.argv[1:]:
        write(Path(sys.argv[1]))
    else:
        with tempfile.TemporaryDirectory() as folder:
            collect(Path(folder))
            write(Path(folder))
