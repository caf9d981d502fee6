"""Lines of keys: on every form of TOML, and against the parser on random files."""

from __future__ import annotations

import json
import tomllib

from hypothesis import given, strategies as st

from venire.io.toml_lines import key_lines, nearest_line

EVERY_FORM = """\
# scale = "no key"
a."b.c" = 1 # x = 2
'q' = \"\"\"
[no]
x = "1" \\\"\"\"
\"\"\"
list = [
  1, # one
  {x = 1, "y" = [2,
   3]},
]
day = 1979-05-27T07:32:00Z
raw = '''[[no]]''''
[ t . u ]
k = 'a = "b'
[[s]]
n = "]"
[s.sub]
z = true
[[s]]
[[s.in]]
w = {}
  [[s.in]]
  w = []
"""


def test_every_form_of_keys():
    found = key_lines(EVERY_FORM)
    assert set(found) == set(places_of(tomllib.loads(EVERY_FORM)))
    assert found["a", "b.c"] == 2
    assert found["q",] == 3
    assert [found["list", n] for n in (0, 1)] == [8, 9]
    assert (found["list", 1, "y"], found["list", 1, "y", 1]) == (9, 10)
    assert (found["raw",], found["t", "u"], found["t", "u", "k"]) == (13, 14, 15)
    assert (found["s",], found["s", 0], found["s", 0, "sub", "z"], found["s", 1]) == (16, 16, 19, 20)
    assert [found["s", 1, "in", n, "w"] for n in (0, 1)] == [22, 24]


def test_the_line_of_what_is_missing_is_that_of_its_table():
    lines = key_lines("\n[[tasks]]\nkind = 1\n")
    assert nearest_line(lines, ("tasks", 0, "pool")) == 2
    assert nearest_line(lines, ("study",)) is None


def test_line_ends_of_windows():
    assert key_lines("a = 1\r\n\r\n[b] # c\r\nd = [\r\n1]\r\n") == {
        ("a",): 1,
        ("b",): 3,
        ("b", "d"): 4,
        ("b", "d", 0): 5,
    }


def places_of(value, place=()):
    """Every place in what the parser returns."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, each in inner:
        yield (*place, key)
        yield from places_of(each, (*place, key))


KEYS = st.sampled_from(["a", "b", "kind", "x-y", "[t]", 'quo"te', "a.b", "#", "é", "=", ""])
TEXTS = st.sampled_from(["", "[t]", "# no", "a = 1", '"', "'", "\\", ",]}", "two\nlines = 1\n[x]", '"""', "é"])
SCALARS = st.one_of(TEXTS, st.integers(-5, 5), st.booleans(), st.sampled_from([1.5, -2e3]))
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(KEYS, inner, max_size=3)),
    max_leaves=8,
)


class Emitter:
    """Writes values as TOML in one of the forms it has, and notes the line on which each begins."""

    def __init__(self, choose) -> None:
        self.text, self.lines, self.choose = "", {}, choose

    @property
    def line(self) -> int:
        return self.text.count("\n") + 1

    def key(self, key: str) -> str:
        bare = key.isascii() and key.replace("-", "").isalnum()
        return key if bare and self.choose(2) else f"'{key}'" if self.choose(2) else json.dumps(key, ensure_ascii=False)

    def blank(self) -> None:
        self.text += ["", "\n", " # c = [1]\n", "  \t"][self.choose(4)]

    def table(self, values: dict, place=(), header="") -> None:
        """Plain keys come first, then tables under headers."""
        under = [key for key, each in values.items() if each and self.headed(each) and self.choose(2)]
        for key in [key for key in values if key not in under]:
            self.lines[*place, key] = self.line
            self.text += f"{self.key(key)} = "
            self.value(values[key], (*place, key))
            self.text += ["\n", " # x\n", "\r\n"][self.choose(3)]
        for key in under:
            name = f"{header}.{self.key(key)}" if header else self.key(key)
            several = isinstance(values[key], list)
            self.lines[*place, key] = self.line
            for n, each in enumerate(values[key] if several else [values[key]]):
                at = (*place, key, n) if several else (*place, key)
                self.lines[at] = self.line
                self.text += f"[[{name}]]\n" if several else f"[{name}] # y\n"
                self.table(each, at, name)

    @staticmethod
    def headed(value) -> bool:
        return isinstance(value, dict) or (isinstance(value, list) and all(isinstance(each, dict) for each in value))

    def value(self, value, place) -> None:
        if isinstance(value, dict):
            self.text += "{ "
            for n, (key, each) in enumerate(value.items()):
                self.text += ", " * (n > 0)
                self.lines[*place, key] = self.line
                self.text += f"{self.key(key)}="
                self.value(each, (*place, key))
            self.text += "}"
        elif isinstance(value, list):
            self.text += "["
            for n, each in enumerate(value):
                self.blank()
                self.lines[*place, n] = self.line
                self.value(each, (*place, n))
                self.blank()
                self.text += "," if n + 1 < len(value) or self.choose(2) else ""
            self.blank()
            self.text += "]"
        elif isinstance(value, str):
            self.text += self.string(value)
        else:
            self.text += json.dumps(value)

    def string(self, value: str) -> str:
        if "'" not in value and self.choose(2):
            return f"'''{value}'''" if "\n" in value or self.choose(2) else f"'{value}'"
        if "\n" in value and self.choose(2):
            escaped = value.replace("\\", "\\\\").replace('"', '\\"')
            return f'"""{escaped}"""'
        return json.dumps(value, ensure_ascii=False)


@given(st.dictionaries(KEYS, VALUES, max_size=5), st.randoms(use_true_random=False))
def test_random_files(values, random):
    emitter = Emitter(random.randrange)
    emitter.table(values)
    assert tomllib.loads(emitter.text) == values, "the test writes TOML"
    found = key_lines(emitter.text)
    assert found == emitter.lines
