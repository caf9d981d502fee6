"""Where topics or documents truly vary, a forecast that lets them vary is better than one that does not."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import polars as pl
import pytest

from venire import evaluate, read_judgments, read_runs
from venire.comparison.forecast import JudgeSwap, forecast
from venire.comparison.tilting import FAVOURED
from venire.disagreement.transitions import fit_transitions

N_TOPICS, N_DOCS, N_SYSTEMS, DEPTH = 10, 40, 10, 10
CENTRE = np.array([[0.75, 0.2, 0.05], [0.2, 0.6, 0.2], [0.05, 0.3, 0.65]])


def collection(rng, concentration):
    """Labels of an old judge and of a new one, whose matrix varies with the topic; systems unlike in quality."""
    old = rng.choice(3, p=[0.6, 0.25, 0.15], size=(N_TOPICS, N_DOCS))
    matrices = np.array([[rng.dirichlet(concentration * row) for row in CENTRE] for _ in range(N_TOPICS)])
    chances = matrices[np.arange(N_TOPICS)[:, None], old]
    new = (rng.random((N_TOPICS, N_DOCS, 1)) > chances.cumsum(axis=-1)[..., :-1]).sum(axis=-1)
    seen = rng.random((N_TOPICS, N_DOCS)) < 0.3
    quality = np.linspace(0.6, 0.9, N_SYSTEMS)
    scores = quality[:, None, None] * old + rng.normal(size=(N_SYSTEMS, N_TOPICS, N_DOCS))
    return old, new, seen, scores


@cache
def labelled_by_both(shape):
    """Judgments of both judges on everything, and the places of their rows in labels (judge, topic, doc)."""
    judge, topic, doc = (each.ravel() for each in np.indices((2, *shape)))
    columns = {"topic": topic.astype(str), "doc": doc.astype(str), "assessor": np.array(["old", "new"])[judge]}
    found = read_judgments(pl.DataFrame({**columns, "label": ["0"] * len(doc)}), scale="0<1<2")
    topics, docs = np.array(found.topics, dtype=int)[found.items.topic], np.array(list(found.items.doc), dtype=int)
    return found, (found.assessor.among("new", "assessor").astype(int), topics[found.item], docs[found.item])


def judgments(old, new, seen):
    """Judgments of the first judge on everything, and of the second on what is seen (topic, doc)."""
    every, place = labelled_by_both(old.shape)
    every = replace(every, label=np.stack([old, new])[place].astype(every.label.dtype))
    return every.take(np.stack([np.ones_like(seen), seen])[place])


def runs(scores):
    """The first documents of each list; scores (system, topic, doc)."""
    doc = np.argsort(-scores, axis=2)[:, :, :DEPTH]
    system, topic, _ = np.indices(doc.shape)
    columns = {"topic": topic.ravel().astype(str), "doc": doc.ravel().astype(str)}
    score = np.take_along_axis(scores, doc, axis=2).ravel()
    return read_runs(pl.DataFrame({**columns, "system": np.char.add("s", system.ravel().astype(str)), "score": score}))


def calibration_error(p, y):
    place = np.minimum((p * 5).astype(int), 4)
    return sum(abs(p[place == n].mean() - y[place == n].mean()) * (place == n).mean() for n in np.unique(place))


def brier(p, y):
    return ((p - y) ** 2).mean()


def swapped(labels, systems):
    """The other judge in place of the old one."""
    return JudgeSwap.of(labels, systems, "nDCG@10", assessor="old", new_judge="new")


def untilted(swap):
    """The same without a tilt of the matrices."""
    found = replace(swap)
    vars(found)["tilt"] = None
    return found


def test_letting_topics_vary_is_better_calibrated_where_they_do():
    """Matrices are not tilted, so that the models differ in nothing else."""
    found = {"fixed": [], "hierarchical": []}
    outcomes = []
    for rng in np.random.default_rng(11).spawn(40):
        old, new, seen, scores = collection(rng, concentration=1.0)
        labels, systems = judgments(old, new, seen), runs(scores)
        then = evaluate(judgments(old, new, np.ones_like(seen)), systems, "nDCG@10", assessor="new")
        then = then.mean("topic").values[:, 0]
        swap = untilted(swapped(labels, systems))
        for form, chances in found.items():
            (one,) = swap.forecasts(judge_model=form, n_draws=200)
            a, b = one.pairs()
            chances.append(one.changes(a, b).stays)
        outcomes.append(np.sign(one.mean[a] - one.mean[b]) * np.sign(then[a] - then[b]) > 0)
    y = np.concatenate(outcomes)
    fixed, varying = (np.concatenate(found[form]) for form in ("fixed", "hierarchical"))
    assert calibration_error(varying, y) < calibration_error(fixed, y)
    assert ((varying - y) ** 2).mean() < ((fixed - y) ** 2).mean()


def noisy_views(rng):
    """Labels of two judges who both see the relevance of a document with errors, on which systems are built."""
    truth = rng.choice(3, p=[0.5, 0.3, 0.2], size=(N_TOPICS, N_DOCS))
    bounds = CENTRE[truth].cumsum(axis=-1)[..., :-1]
    old, new = ((rng.random((*truth.shape, 1)) > bounds).sum(axis=-1) for _ in range(2))
    quality = np.linspace(0.3, 0.9, N_SYSTEMS)
    scores = quality[:, None, None] * truth + rng.normal(size=(N_SYSTEMS, N_TOPICS, N_DOCS))
    return old, new, rng.random(truth.shape) < 0.2, scores


@pytest.mark.parametrize(
    ("made", "most"), [(noisy_views, 0.95), (lambda rng: collection(rng, concentration=10.0), 1.05)]
)
def test_what_systems_return_helps_where_it_says_something_and_costs_little_elsewhere(made, most, collections, figure):
    """In the second kind of collection the new label depends on nothing but the old one and the topic."""
    found, outcomes = {True: [], False: []}, []
    for rng in np.random.default_rng(11).spawn(collections(40)):
        old, new, seen, scores = made(rng)
        labels, systems = judgments(old, new, seen), runs(scores)
        then = evaluate(judgments(old, new, np.ones_like(seen)), systems, "nDCG@10", assessor="new")
        then = then.mean("topic").values[:, 0]
        swap = swapped(labels, systems)
        for tilted, chances in found.items():
            (one,) = (swap if tilted else untilted(swap)).forecasts(n_draws=100)
            a, b = one.pairs()
            chances.append(one.changes(a, b).stays)
        outcomes.append(np.sign(one.mean[a] - one.mean[b]) * np.sign(then[a] - then[b]) > 0)
    y = np.concatenate(outcomes)
    with_tilt, without = (((np.concatenate(found[tilted]) - y) ** 2).mean() for tilted in (True, False))
    figure("Brier score, with what systems return", with_tilt)
    figure("Brier score, without", without)
    assert with_tilt < most * without


def test_what_the_new_judge_labelled_makes_forecasts_better_and_all_of_it_makes_them_exact(collections, figure):
    """Brier scores with 30 % of the labels of a judge, drawn over and standing, and with all of them."""
    errors = {"drawn over": [], "standing": [], "all": []}
    for rng in np.random.default_rng(21).spawn(collections(20)):
        old, new, seen, scores = collection(rng, concentration=1.0)
        every, systems = judgments(old, new, np.ones_like(seen)), runs(scores)
        part = judgments(old, new, seen)
        then = evaluate(every, systems, "nDCG@10", assessor="new").mean("topic").values[:, 0]
        known = fit_transitions(part, "old", "new")
        asked_for = [("drawn over", part, known), ("standing", part, None), ("all", every, None)]
        for name, labels, given in asked_for if len(errors["all"]) < 10 else asked_for[:2]:
            asked = {"assessor": "old", "new_judge": "new", "transitions": given, "n_draws": 30}
            one = forecast(labels, systems, "nDCG@10", **asked)
            a, b = one.pairs()
            survives = np.sign(one.mean[a] - one.mean[b]) * np.sign(then[a] - then[b]) > 0
            errors[name].append(((one.changes(a, b).stays - survives) ** 2).mean())
    for name, found in errors.items():
        figure(f"Brier score, {name}", np.mean(found))
    assert np.mean(errors["all"]) == 0
    assert np.mean(errors["standing"]) < 0.95 * np.mean(errors["drawn over"])


def crowd(rng, *, easy, n_judges=6):
    """Labels (judge, topic, doc) around a truth; judges agree on some documents and not on others, if easy is small."""
    truth = rng.choice(3, p=[0.5, 0.3, 0.2], size=(N_TOPICS, N_DOCS))
    chances = np.apply_along_axis(lambda row: rng.dirichlet(easy * row), 2, CENTRE[truth])
    return (rng.random((n_judges, N_TOPICS, N_DOCS, 1)) > chances.cumsum(axis=-1)[..., :-1]).sum(axis=-1)


def all_judgments(labels):
    judge, topic, doc = (each.ravel().astype(str) for each in np.indices(labels.shape))
    frame = pl.DataFrame({"topic": topic, "doc": doc, "assessor": judge, "label": labels.ravel().astype(str)})
    return read_judgments(frame, scale="0<1<2")


def test_what_others_said_of_a_document_makes_forecasts_better():
    """The last judge is left out and forecast from the first, whose labels score, and from those between."""
    errors = {True: [], False: []}
    for rng in np.random.default_rng(5).spawn(8):
        labels = crowd(rng, easy=1.0)
        scores = 0.7 * labels[0] + rng.normal(size=(N_SYSTEMS, N_TOPICS, N_DOCS))
        seen, systems = all_judgments(labels[:-1]), runs(scores)
        then = evaluate(all_judgments(labels), systems, "nDCG@10", assessor="5").mean("topic").values[:, 0]
        known = fit_transitions(seen, "0")
        for leaning, found in errors.items():
            given = known if leaning else replace(known, leaning=None)
            how = {"assessor": "0", "transitions": given, "judge_model": "hierarchical", "n_draws": 100}
            one = forecast(seen, systems, "nDCG@10", **how)
            a, b = one.pairs()
            survives = np.sign(one.mean[a] - one.mean[b]) * np.sign(then[a] - then[b]) > 0
            found.append(((one.changes(a, b).stays - survives) ** 2).mean())
    assert np.mean(errors[True]) < 0.95 * np.mean(errors[False])


def test_where_documents_do_not_differ_nothing_is_read_from_them():
    rng = np.random.default_rng(8)
    old = rng.choice(3, p=[0.5, 0.3, 0.2], size=(N_TOPICS, N_DOCS))
    others = (rng.random((5, *old.shape, 1)) > CENTRE[old].cumsum(axis=-1)[..., :-1]).sum(axis=-1)
    leaning = fit_transitions(all_judgments(np.concatenate([old[None], others])), "0").leaning
    assert leaning is None or leaning.k >= 64
    varied = fit_transitions(all_judgments(crowd(rng, easy=1.0)), "0").leaning
    assert varied is not None
    assert varied.k <= 16


def favouring(rng, *, more, shape=(30, 60), n_labels=300):
    """Labels of a judge and of an expert, who see relevance with errors, and scores of five systems.

    The judge gives ``more`` to what the last system, which is not the best, has among its first ten results.  The
    expert labelled some documents, drawn from the lists in proportion to their weight.
    """
    truth = rng.choice(3, p=[0.5, 0.3, 0.2], size=shape)
    bounds = CENTRE[truth].cumsum(axis=-1)[..., :-1]
    judge, expert = ((rng.random((*shape, 1)) > bounds).sum(axis=-1) for _ in range(2))
    scores = np.array([0.3, 0.5, 0.7, 0.9, 0.6])[:, None, None] * truth + rng.normal(size=(5, *shape))
    place = np.argsort(np.argsort(-scores, axis=2), axis=2)
    judge = np.minimum(judge + more * (place[-1] < DEPTH), 2)
    weight = (1 / np.log2(2 + place) * (place < DEPTH)).sum(axis=0).ravel()
    seen = np.zeros(weight.size, dtype=bool)
    seen[np.argsort(rng.exponential(size=weight.size) / np.maximum(weight, 1e-9))[:n_labels]] = True
    return judge, expert, seen.reshape(shape), scores


@pytest.mark.parametrize("more", [1, 0])
def test_a_large_favour_is_used_and_costs_little_where_there_is_none(more, collections, figure, monkeypatch):
    """How often the favoured system is said to stay ahead of the best one, and Brier scores."""
    wrong, stated, outcomes = {FAVOURED: [], 0.0: []}, {FAVOURED: [], 0.0: []}, []
    for rng in np.random.default_rng(31).spawn(collections(25)):
        judge, expert, seen, scores = favouring(rng, more=more)
        labels, systems = judgments(judge, expert, seen), runs(scores)
        then = evaluate(judgments(judge, expert, np.ones_like(seen)), systems, "nDCG@10", assessor="new")
        then = then.mean("topic").values[:, 0]
        swap = swapped(labels, systems)
        for expected, found in wrong.items():
            monkeypatch.setattr("venire.comparison.tilting.FAVOURED", expected)
            (one,) = replace(swap).forecasts(n_draws=200)  # which fits the tilt anew
            a, b = one.pairs()
            stated[expected].append(one.changes(a, b).stays)
            if one.mean[4] > one.mean[3] and then[4] < then[3]:
                found.append(bool((one.draws[:, 4] > one.draws[:, 3]).mean() > 0.5))
        outcomes.append(np.sign(one.mean[a] - one.mean[b]) * np.sign(then[a] - then[b]) > 0)
    y = np.concatenate(outcomes)
    chances = [np.concatenate(each) for each in stated.values()]
    errors, calibration = ([measure(p, y) for p in chances] for measure in (brier, calibration_error))
    for name, brier_score, error in zip(("with large favours", "without"), errors, calibration, strict=True):
        figure(f"Brier score, {name}", brier_score)
        figure(f"calibration error, {name}", error)
    if more:
        with_favours, without = (np.mean(each) for each in wrong.values())
        figure("collections in which the wrong order is the more probable", with_favours)
        figure("the same, without large favours", without)
        assert len(wrong[FAVOURED]) >= 0.8 * len(outcomes)
        assert with_favours < min(0.5, without)
        assert errors[0] < 0.9 * errors[1]
        assert calibration[0] < calibration[1]
    else:
        assert errors[0] < 1.05 * errors[1]
        assert calibration[0] < calibration[1] + 0.01
