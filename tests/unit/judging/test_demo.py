import json
from collections import Counter

import pytest

from model_server import judged
from venire.errors import FormatError
from venire.judging.demo import write_demo
from venire.judging.machines.prompts import Prompts
from venire.judging.study import KINDS, LABEL
from venire.judging.study_files import read_study
from venire.simulation.documents import simulate_documents, simulate_topics


def test_the_demo_is_a_study_with_tasks_of_every_kind(tmp_path):
    study, tasks = read_study(write_demo(tmp_path / "demo", rng=1))
    assert {task.kind for task in tasks} == {*KINDS}
    assert (study.people, study.machines) == (("ann", "bob"), ("model",))
    again, other = (write_demo(tmp_path / name, rng=seed).parent for name, seed in (("again", 1), ("other", 2)))
    read = [(folder / "documents.jsonl").read_bytes() for folder in (tmp_path / "demo", again, other)]
    assert read[0] == read[1] != read[2]


def test_a_study_that_is_there_stays_and_other_files_are_not_touched(tmp_path):
    path = write_demo(tmp_path / "demo")
    path.write_text("# mine\n")
    assert write_demo(tmp_path / "demo", rng=2).read_text() == "# mine\n"
    (tmp_path / "file").touch()
    with pytest.raises(FormatError, match="is not empty"):
        write_demo(tmp_path)


def test_texts_differ_in_relevance():
    """Words that a query and a document share tell the labels apart, in most cases."""
    documents = simulate_documents(simulate_topics(), rng=3)
    queries = {each.topic: each.query for each in simulate_topics()}
    shares = {label: [] for label in (0, 1, 2)}
    for each in documents:
        words = {*queries[each.topic].split()} - {"a", "from", "with"}
        shares[each.label].append(len(words & {*each.text.replace(",", "").replace(".", "").split()}) / len(words))
    mean = {label: sum(found) / len(found) for label, found in shares.items()}
    assert mean[0] < 0.1 < 0.25 < mean[1] < 0.5 < mean[2]
    assert Counter(each.reliable for each in documents)[True] in range(15, 46)


def test_a_model_that_reads_agrees_with_the_truth_and_errs(tmp_path):
    study, tasks = read_study(write_demo(tmp_path / "demo"))
    truth = dict(line.split()[2:] for line in (tmp_path / "demo" / "truth.qrels").read_text().splitlines())
    prompts = Prompts(study)
    labels = [task for task in tasks if task.kind == LABEL]
    right = sum(judged({"messages": prompts.prompt(task).messages})["label"] == truth[task.doc] for task in labels)
    assert 0.5 < right / len(labels) < 1
    assert len({json.dumps(prompts.prompt(task).messages) for task in labels}) == len(labels)
