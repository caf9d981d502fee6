"""Simulated studies: a judge labelled all results of a few systems, and labels of a person are revealed on request."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from venire import read_judgments, read_runs
from venire.io.runs import scan
from venire.measures.scoring import Scoring
from venire.planning.goals import Goal
from venire.planning.result import JUDGE, costs
from venire.planning.rounds import Past, state_of
from venire.planning.systems import SystemsPlan

N_TOPICS, TOP = 24, 5
MEASURE = f"P(rel=1)@{TOP}"


@dataclass(eq=False)
class Study:
    """Judgments of a judge and a person on everything, and where the systems return what."""

    judgments: object
    runs: object
    facts: object

    @classmethod
    def simulate(cls, rng: np.random.Generator, *, equal: bool, favour: float = 0.4, spread: float = 0.6) -> Study:
        """Draw four systems without common results; with ``equal``, the first two are equally good on these topics.

        The judge's labels 0 to 2 depend on relevance, and on the system, by a normal effect of deviation ``favour``.
        """
        quality = rng.normal(0.0, spread, 4)
        p = 1 / (1 + np.exp(-(quality[:, None] + rng.normal(0.0, 0.8, N_TOPICS))))
        n_relevant = rng.binomial(TOP, p)
        if equal:
            n_relevant[1] = rng.permutation(n_relevant[0])
        relevant = np.argsort(rng.random((4, N_TOPICS, TOP)), axis=-1) < n_relevant[..., None]
        tilt = rng.normal(0.0, favour, (4, 1, 1))
        latent = 2.2 * relevant + tilt + rng.logistic(size=relevant.shape)
        label = (latent > 0.6).astype(int) + (latent > 2.0)
        system, topic, place = (each.ravel() for each in np.indices(relevant.shape))
        doc = [f"{s}-{t}-{k}" for s, t, k in zip(system, topic, place, strict=True)]
        columns = {"topic": [f"q{t:02d}" for t in topic], "doc": doc}
        frames = [
            pl.DataFrame({**columns, "assessor": who, "label": each.ravel().astype(int)})
            for who, each in (("judge", label), ("person", relevant))
        ]
        judgments = read_judgments(pl.concat(frames), scale="0<1<2")
        runs = read_runs(
            pl.DataFrame({**columns, "system": [f"s{s}" for s in system], "score": (-place).astype(float)})
        )
        return cls(judgments, runs, scan(runs, judgments.items).facts.by_name())

    @property
    def gains(self) -> np.ndarray:
        """Labels of the person -> (item,)."""
        rows = self.judgments.assessor.among("person", "assessor")
        gain = np.zeros(len(self.judgments.items))
        gain[self.judgments.item[rows]] = self.judgments.label[rows]
        return gain

    @property
    def truth(self) -> np.ndarray:
        """Scores by all labels of the person -> (system,)."""
        system = np.repeat(self.facts.system, self.facts.n_hits)
        return np.bincount(system, weights=self.gains[self.facts.item]) / N_TOPICS / TOP

    @property
    def nothing(self) -> np.ndarray:
        """No label is revealed: NaN for every item."""
        return np.full(len(self.judgments.items), np.nan)

    def plan(self, goal: str, probability: np.ndarray, *, seed: int = 0) -> SystemsPlan:
        """Plan with the labels of the person that are revealed: those of items with a probability."""
        labels, rows = self.judgments, self.judgments.assessor.among("person", "assessor")
        kept = labels.take(~rows | ~np.isnan(probability[labels.item]))
        person = np.isin(kept.assessors, "person")[kept.assessor.codes]
        kept = replace(kept, probability=np.where(person, probability[kept.item], np.nan))
        scoring = Scoring(per="assessor")
        return SystemsPlan.of(
            kept,
            self.facts,
            scoring.plan([MEASURE], kept.scale),
            scoring,
            goal=Goal.parse(goal),
            judges=["judge"],
            people=["person"],
            costs=costs(None),
            seed=seed,
        )

    def rounds(self, goal: str, *, budget: int, batch: int, seed: int = 0) -> tuple[str, SystemsPlan, int]:
        """Plan, reveal and look until there is nothing more to do -> state, the last look, and how many labels."""
        probability, past = self.nothing, Past(0, (), 0)
        while True:
            found = self.plan(goal, probability, seed=seed + len(past.spent))
            level, _ = past.levels(budget, batch)
            state = state_of(found, level, budget - sum(past.spent))
            if state != JUDGE:
                return state, found, int(sum(past.spent))
            chance = found.candidates.probabilities(min(batch, budget - sum(past.spent)))
            drawn = found.candidates.draw(chance, np.random.default_rng([seed, len(past.spent)]))
            probability[found.candidates.item[drawn]] = chance[drawn]
            past = Past(0, (*past.spent, float(drawn.sum())), 0)
