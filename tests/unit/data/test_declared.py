"""Who is declared as the reference and who as a machine, and the probability with which items were chosen."""

import numpy as np
import polars as pl
import pytest

from venire import FormatError, read_judgments, write_judgments
from venire.data.assessors import nothing_declared, with_primary
from venire.errors import SettingError, UnknownName
from venire.io import read_grid

HEADER = "# reference: ann\n# machines: gpt4, llama\n"
TABLE = "topic,doc,assessor,label\n1,a,ann,1\n1,a,gpt4,0\n1,b,llama,1\n1,b,bob,0\n"


@pytest.fixture
def write(tmp_path):
    def write_file(name, text):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return write_file


def grid(**declared):
    return read_grid("1 0 1\n0 0 1\n1 1 1", assessors=["ann", "bob", "llm"]).declare(**declared)


class TestDeclare:
    def test_people_are_the_reference_and_whoever_is_no_machine(self):
        assert grid().people == ()
        assert grid(reference="bob").people == ("bob",)
        assert grid(machines="llm").people == ("ann", "bob")
        assert grid(reference=["bob"], machines=["llm"]).people == ("bob", "ann")

    def test_what_is_not_stated_stays(self):
        labels = grid(reference="bob", machines="llm")
        assert labels.declare(machines=["llm", "ann"]).reference == ("bob",)
        assert labels.declare(reference=()).reference == ()
        assert labels.declare().machines == ("llm",)

    def test_unknown_names_are_refused_with_a_suggestion(self):
        with pytest.raises(UnknownName, match="did you mean 'ann'"):
            grid(reference="anne")
        with pytest.raises(UnknownName, match="no assessor 'gpt4'"):
            grid(machines=["llm", "gpt4"])

    def test_nobody_is_both(self):
        with pytest.raises(SettingError, match="'llm' is declared as the reference and as a machine"):
            grid(machines="llm").declare(reference=["ann", "llm"])

    def test_a_note_says_where_nothing_is_declared(self):
        (note,) = nothing_declared(grid())
        assert (note.kind, note.fields["names"]) == ("nothing-declared", ("ann", "bob", "llm"))
        assert nothing_declared(grid(machines="llm")) == nothing_declared(grid(reference="ann")) == ()
        assert nothing_declared(grid().where(assessor="ann")) == ()

    def test_declarations_hold_for_the_assessors_who_remain(self):
        labels = grid(reference=["ann", "bob"], machines="llm")
        some = labels.where(assessor=["bob", "llm"])
        assert (some.reference, some.machines) == (("bob",), ("llm",))
        assert labels.where(doc="d1").reference == ("ann", "bob")
        assert labels.anonymous().people == ()
        primary = with_primary(grid(reference="ann", machines="llm"))
        assert set(primary.reference + primary.machines) <= set(primary.assessors)


class TestFiles:
    def test_a_header_declares_who_is_who(self, write):
        labels = read_judgments(write("judges.csv", HEADER + TABLE))
        assert (labels.reference, labels.machines) == (("ann",), ("gpt4", "llama"))
        assert labels.people == ("ann", "bob")

    def test_qrels_declare_too_and_files_are_joined(self, write):
        human, llm = (
            write("ann.qrels", "# reference: ann\n1 0 a 1\n"),
            write("gpt4.qrels", "# Machines: gpt4\n1 0 a 0\n"),
        )
        labels = read_judgments([human, llm])
        assert (labels.reference, labels.machines) == (("ann",), ("gpt4",))

    def test_names_that_tell_folders_apart_keep_what_was_declared(self, tmp_path):
        for folder, line in (("one", "# reference: qrels\n"), ("two", "# machines: qrels\n")):
            (tmp_path / folder).mkdir()
            (tmp_path / folder / "qrels.txt").write_text(f"{line}1 0 a 1\n", encoding="utf-8")
        labels = read_judgments([tmp_path / "one" / "qrels.txt", tmp_path / "two" / "qrels.txt"])
        assert (labels.reference, labels.machines) == (("one/qrels",), ("two/qrels",))

    def test_an_unknown_name_is_an_error_with_its_line(self, write):
        with pytest.raises(FormatError, match=r"judges.csv:2: machines: there is no assessor 'gtp4'") as caught:
            read_judgments(write("judges.csv", "# reference: ann\n# machines: gtp4\n" + TABLE))
        assert "did you mean 'gpt4'?" in str(caught.value.hint)

    def test_contradicting_files_are_an_error(self, write):
        one, two = write("one.csv", "# machines: ann\n" + TABLE), write("two.csv", HEADER + TABLE.replace(",a,", ",c,"))
        with pytest.raises(FormatError, match=r"two.csv:1: assessor 'ann' is declared under reference, but under mach"):
            read_judgments([one, two])

    @pytest.mark.parametrize("name", ["judges.csv", "judges.tsv.gz", "judges.jsonl", "judges.parquet"])
    @pytest.mark.parametrize("machine", ["gpt4", "gpt4, the large one"])
    def test_written_and_read_again(self, tmp_path, name, machine):
        frame = {"topic": ["1"] * 3, "doc": ["a", "a", "b"], "assessor": ["ann", machine, "bob"], "label": [0, 1, 2]}
        frame["probability"] = [0.25, None, 1.0]
        labels = read_judgments(pl.DataFrame(frame)).declare(reference=["ann", "bob"], machines=machine)
        write_judgments(labels, tmp_path / name)
        found = read_judgments(tmp_path / name)
        assert (found.reference, found.machines) == (("ann", "bob"), (machine,))
        assert np.array_equal(found.probability, labels.probability, equal_nan=True)

    def test_qrels_are_written_and_read_again(self, tmp_path):
        labels = grid(reference=["bob", "ann"], machines="llm")
        write_judgments(labels, tmp_path / "judges.qrels", second_column="assessor")
        found = read_judgments(tmp_path / "judges.qrels", second_column="assessor")
        assert (found.reference, found.machines) == (("bob", "ann"), ("llm",))

    @pytest.mark.parametrize("name", ["judges.csv", "judges.jsonl"])
    def test_what_was_declared_beside_before_does_not_mislead(self, tmp_path, name):
        (tmp_path / "judges.toml").write_text('reference = ["llm"]\nmachines = "ann"\n', encoding="utf-8")
        write_judgments(grid(machines="llm"), tmp_path / name)
        found = read_judgments(tmp_path / name)
        assert (found.reference, found.machines) == ((), ("llm",))

    def test_a_toml_file_beside_declares_without_a_scale(self, write):
        path = write("judges.csv", TABLE)
        write("judges.csv.toml", 'reference = ["ann"]\nmachines = "gpt4"\n')
        labels = read_judgments(path)
        assert (labels.reference, labels.machines, labels.scale.inferred) == (("ann",), ("gpt4",), True)
        write("judges.csv.toml", "reference = 1\n")
        with pytest.raises(FormatError, match="reference is 1, expected names"):
            read_judgments(path)


class TestPrompts:
    LINE = "# prompt GPT-4 (large): 9f86d081\n"
    ROWS = TABLE.replace("gpt4", "GPT-4 (large)")

    def test_a_header_states_prompts_and_names_keep_their_case(self, write):
        labels = read_judgments(write("judges.csv", self.LINE + self.ROWS))
        assert labels.prompts == {"GPT-4 (large)": "9f86d081"}
        assert labels.where(doc="a").prompts == labels.prompts
        assert labels.where(assessor="ann").prompts == labels.anonymous().prompts == {}

    def test_of_qrels_too_and_files_are_joined(self, write):
        one, two = (write(f"{n}.qrels", f"# prompt {n}: hash-of-{n}\n1 0 a 1\n") for n in ("gpt4", "llama"))
        assert read_judgments([one, two]).prompts == {"gpt4": "hash-of-gpt4", "llama": "hash-of-llama"}

    @pytest.mark.parametrize("name", ["judges.csv", "judges.tsv.gz", "judges.jsonl", "judges.parquet"])
    @pytest.mark.parametrize("who", ["GPT-4 (large)", "gpt: 4"])
    def test_written_and_read_again(self, write, tmp_path, name, who):
        write("first.csv", TABLE.replace("gpt4", who))
        write("first.csv.toml", f'prompts = {{ "{who}" = "9f86d081" }}\n')
        labels = read_judgments(tmp_path / "first.csv")
        assert labels.prompts == {who: "9f86d081"}
        write_judgments(labels, tmp_path / name)
        assert read_judgments(tmp_path / name).prompts == labels.prompts
        write_judgments(labels.where(assessor="ann"), tmp_path / "first.csv")
        assert read_judgments(tmp_path / "first.csv").prompts == {}

    def test_what_cannot_hold_is_told(self, write):
        odd = read_judgments(write("odd.csv", "# prompt used: UMBRELA\n" + TABLE))
        assert odd.prompts == {}
        assert [note.fields["name"] for note in odd.notes if note.kind == "unknown-prompt"] == ["used"]
        with pytest.raises(FormatError, match=r"none.csv:1: the prompt of gpt4 has no hash"):
            read_judgments(write("none.csv", "# prompt gpt4:\n" + TABLE))
        one, two = (write(f"{n}.csv", f"# prompt gpt4: {n}\n" + TABLE.replace(",a,", f",{n},")) for n in ("a", "c"))
        with pytest.raises(FormatError, match=r"c.csv:1: the prompt of gpt4 has two hashes"):
            read_judgments([one, two], duplicate_labels="keep")
        path = write("beside.csv", TABLE)
        write("beside.csv.toml", 'prompts = ["gpt4"]\n')
        with pytest.raises(FormatError, match="expected a text for each assessor"):
            read_judgments(path)


class TestProbability:
    def test_a_column_is_read_and_kept(self, write):
        path = write("judges.csv", "topic,doc,label,inclusion_probability\n1,a,1,0.5\n1,b,0,\n2,a,1,1\n")
        labels = read_judgments(path)
        assert np.array_equal(labels.probability, [0.5, np.nan, 1.0], equal_nan=True)
        assert labels.where(topic="2").probability.tolist() == [1.0]
        assert labels.records()[1]["probability"] is None

    def test_files_without_it_have_none(self, write):
        with_it, without = (
            write("a.csv", "topic,doc,label,probability\n1,a,1,0.5\n"),
            write("b.csv", "topic,doc,label\n1,a,0\n"),
        )
        assert read_judgments(without).probability is None
        assert np.array_equal(read_judgments([with_it, without]).probability, [0.5, np.nan], equal_nan=True)

    @pytest.mark.parametrize("value", ["0", "1.01", "-0.5", "nan", "inf", "often"])
    def test_anything_but_a_probability_is_an_error_with_its_line(self, write, value):
        path = write("judges.csv", f"topic,doc,label,probability\n1,a,1,0.5\n1,b,0,{value}\n")
        with pytest.raises(FormatError, match=rf"judges.csv:3: '{value}' in column 'probability' is not a probability"):
            read_judgments(path)

    def test_a_wide_table_has_one_for_each_row(self, write):
        labels = read_judgments(write("judges.csv", "topic,doc,ann,bob,probability\n1,a,1,0,0.5\n1,b,0,,0.25\n"))
        assert labels.assessors == ("ann", "bob")
        assert sorted(labels.probability.tolist()) == [0.25, 0.5, 0.5]

    def test_numbers_of_a_frame_are_checked(self):
        frame = pl.DataFrame({"topic": ["1", "1"], "doc": ["a", "b"], "label": [1, 0], "probability": [0.5, 2.0]})
        with pytest.raises(FormatError, match=r"frame:2: 2\.0 in column 'probability'"):
            read_judgments(frame)

    def test_qrels_cannot_hold_it(self, tmp_path):
        frame = pl.DataFrame({"topic": ["1"], "doc": ["a"], "label": [1], "probability": [0.5]})
        with pytest.raises(ValueError, match="do not fit into qrels"):
            write_judgments(read_judgments(frame), tmp_path / "judges.qrels")
