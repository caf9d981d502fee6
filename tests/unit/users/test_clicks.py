from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import t

from venire.io.clicks import read_clicks
from venire.plots.users import plot_click_summary
from venire.users.clicks import summarise_clicks


def test_the_mean_over_topics_has_students_interval():
    log = {"topic": ["1", "2", "3"], "docs": ["a b", "c d e f", "g"], "clicks": ["1 0", "0 0 0 0", "1"]}
    summary = summarise_clicks(read_clicks(log))
    rates = np.array([0.5, 0.0, 1.0])
    low, high = t.interval(0.95, 2, rates.mean(), rates.std(ddof=1) / np.sqrt(3))
    assert summary.mean_ctr.value == 0.5
    assert (summary.mean_ctr.low, summary.mean_ctr.high) == (max(low, 0.0), min(high, 1.0))
    assert summary.record()["satisfied"] == 2
    assert summary.records()[0] == {
        "rank": 1,
        "impressions": 3,
        "clicks": 2,
        "satisfied": 2,
        "click_rate": pytest.approx(2 / 3),
        "satisfied_rate": pytest.approx(2 / 3),
    }
    assert "3 sessions on 3 topics" in summary.sentence()


def test_one_topic_has_no_interval():
    summary = summarise_clicks(read_clicks({"topic": ["1"], "docs": ["a b"], "clicks": ["1 0"]}))
    assert (summary.record()["low"], summary.record()["high"]) == (None, None)
    assert summary.mean_ctr.value == 0.5


def test_a_log_of_clicks_alone_has_no_rate():
    log = {"topic": ["1", "1", "2"], "session": ["s", "t", "u"], "doc": ["a", "b", "c"], "clicked": [1, 1, 1]}
    clicks = read_clicks(log)
    summary = summarise_clicks(clicks)
    assert summary.record()["mean_ctr"] is summary.record()["low"] is None
    assert "not known" in summary.sentence()
    assert "no-unclicked-results" in [note.kind for note in clicks.notes]
    assert plot_click_summary(summary).axes[1].get_legend_handles_labels()[1] == ["mean not known"]


@pytest.mark.parametrize(("unclicked", "warned"), [(1, True), (5, False)])
def test_a_log_with_hardly_a_result_without_a_click_is_doubted(unclicked, warned):
    n = 20
    log = {
        "topic": ["1"] * n,
        "session": range(n),
        "doc": ["a"] * n,
        "clicked": [0] * unclicked + [1] * (n - unclicked),
    }
    clicks = read_clicks(log)
    assert summarise_clicks(clicks).mean_ctr.value == 1 - unclicked / n
    assert ("few-unclicked-results" in [note.kind for note in clicks.notes]) == warned
