"""Parameters of a collection of labels in context, each with its default."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from venire.checks import need_at_least, need_share
from venire.data.scale import Scale
from venire.errors import SettingError, known_names
from venire.simulation.levels import need_ordered

DEPTH = 10
DESIGNS = ("paper", "neighbours")
LABELLED = ("both", "left")
OVERALL = "overall"
DEFAULT_SCALE = Scale.parse("bad<fair<good<excellent<perfect")


@dataclass(frozen=True)
class Engine:
    """A search engine.

    Parameters
    ----------
    quality : weight of a document's worth, in standard deviations of the noise; 0: a random order
    diversity : penalty for a document that repeats all of the one above, likewise
    spread : standard deviation of the quality over topics
    """

    quality: float
    diversity: float = 0.0
    spread: float = 0.5

    def __post_init__(self) -> None:
        for name in ("quality", "diversity", "spread"):
            need_at_least(0, name, getattr(self, name))


@dataclass(frozen=True, kw_only=True)
class ClickModel:
    """Parameters of the click sessions.

    Parameters
    ----------
    sessions : number of sessions of each topic; 0: no clicks
    patience : probability of continuing with the next rank
    attraction : probability of a click on an examined document: a worthless one, and one at the top of the scale
    dwell : median seconds on a clicked document that does not satisfy the user, and on one that does
    spread : standard deviation of the logarithm of the seconds
    """

    sessions: int = 40
    patience: float = 0.85
    attraction: tuple[float, float] = (0.05, 0.9)
    dwell: tuple[float, float] = (12.0, 90.0)
    spread: float = 0.8

    def __post_init__(self) -> None:
        need_at_least(0, "sessions", self.sessions)
        need_share("patience", self.patience)
        need_at_least(0, "spread", self.spread)
        for name, ends in (("attraction", self.attraction), ("dwell", self.dwell)):
            if not 0 <= ends[0] <= ends[1] or (name == "attraction" and ends[1] > 1) or not np.isfinite(ends[1]):
                most = "up to 1" if name == "attraction" else "finite"
                message = f"{name} goes from {ends[0]:g} to {ends[1]:g}, expected numbers from 0, {most}"
                raise SettingError(message, hint="the first is for a worthless document")


@dataclass(frozen=True, kw_only=True)
class Aspect:
    """One aspect: its weights, and its coverage and noise, each in isolation and in conditional labels."""

    name: str
    covered: tuple[float, float]
    relevance: float = 0.0
    novelty: float = 0.0
    reliability: float = 0.0
    noise: tuple[float, float] = (0.25, 0.25)

    def __post_init__(self) -> None:
        if not self.name or self.name == OVERALL:
            raise SettingError(f"{self.name!r} cannot name an aspect", hint=f"{OVERALL!r} is always included")
        for share in self.covered:
            need_share(f"coverage of {self.name}", share)
        for amount in self.noise:
            need_at_least(0, f"noise of {self.name}", amount)


GOLBUS_ASPECTS = (
    Aspect(name="topicality", covered=(0.994, 0.993), relevance=1.0, noise=(0.1, 0.2)),
    Aspect(name="novelty", covered=(0.227, 0.818), relevance=1.0, novelty=1.0, noise=(0.2, 0.7)),
    Aspect(name="freshness", covered=(0.749, 0.804), reliability=1.0),
    Aspect(name="authority", covered=(0.685, 0.550), reliability=1.0),
    Aspect(name="quality", covered=(0.887, 0.909), reliability=1.0),
)
"""The five aspects of the paper, with the coverage of Table 1."""


@dataclass(frozen=True, kw_only=True)
class AspectModel:
    """Aspects and their dependence; ``venire.simulation.context.observations`` has the formulas."""

    aspects: tuple[Aspect, ...] = GOLBUS_ASPECTS
    link: float = 0.65
    own: float = 0.5
    mood: float = 0.2
    spill: float = 0.4
    doubt: tuple[float, float] = (0.45, 0.36)
    spam: float = 0.5

    def __post_init__(self) -> None:
        names = [aspect.name for aspect in self.aspects]
        if len(set(names)) < len(names) or not names:
            raise SettingError(f"the aspects {', '.join(names) or 'are none'}", hint="name one or more, each once")
        for name in ("link", "spam"):
            need_share(name, getattr(self, name))
        for name in ("own", "mood"):
            need_at_least(0, name, getattr(self, name))
        for share in self.doubt:
            need_share("doubt", share)


@dataclass(frozen=True, kw_only=True)
class ContextSetting:
    """Parameters of a collection of labels in context; the defaults approximate the figures of the paper.

    Parameters
    ----------
    n_topics, docs_per_topic : number of topics; for each, number of documents that both engines rank
    scale : ordered labels; worth goes from 0, the lowest, to the number of the highest
    shape : parameters of the Beta distribution of worth
    n_facets, rarity, breadth : number of facets of a topic; how rare most of them are (0: all occur everywhere); how
        many more of them good documents cover than bad ones, 0 to 1.  With low rarity and high breadth, the label of
        the previous document predicts how much of the next is repetition
    redundancy : share of its worth that a document loses if the previous document contains all of it, 0 to 1
    complementarity : share of its worth that it gains if it contains all that the previous document did not cover
    engines : the two engines
    design, fifth, labelled : what is labelled: as in the ``"paper"``, with ranks 1 to 4 given rank 5 on a share
        ``fifth`` of the topics; or each of five ``"neighbours"`` given the one above; of ``"both"`` lists, or of the
        ``"left"`` one
    n_assessors, judged_again, again_by : number of assessors, one of whom judges a topic; the share of topics that
        ``again_by`` others judge as well
    disagreement, noise : standard deviations, in grades: of an assessor's own opinion of a document, and of a single
        label
    context : true alpha: the weight of u(d|c) in the utility of a list, 0 (each document alone) to 1
    depth : number of documents read by users who compare lists
    n_users, preference_noise : number of users who compare the two lists of a topic, and the standard deviation of
        their errors, in grades
    weak, strong : shares of topics with a modal preference, and with one where slight preferences count as ties
    clicks : parameters of the click sessions
    aspects : aspects that are labelled as well: ``AspectModel()`` for the paper's; None: none
    """

    n_topics: int = 457
    docs_per_topic: int = 20
    scale: Scale = DEFAULT_SCALE
    shape: tuple[float, float] = (2.0, 5.0)
    n_facets: int = 10
    rarity: float = 12.0
    breadth: float = 0.5
    redundancy: float = 0.6
    complementarity: float = 0.4
    engines: tuple[Engine, Engine] = (Engine(6.0), Engine(5.0, diversity=1.5))
    design: str = "paper"
    fifth: float = 0.6
    labelled: str = "both"
    n_assessors: int = 20
    judged_again: float = 0.0
    again_by: int = 1
    disagreement: float = 0.35
    noise: float = 0.05
    context: float = 0.5
    depth: int = 5
    n_users: int = 5
    preference_noise: float = 0.1
    weak: float = 0.91
    strong: float = 0.23
    clicks: ClickModel = field(default_factory=ClickModel)
    aspects: AspectModel | None = None

    def __post_init__(self) -> None:
        for name in ("n_topics", "n_facets", "n_assessors", "again_by", "depth", "n_users"):
            need_at_least(1, name, getattr(self, name))
        need_at_least(DEPTH, "docs_per_topic", self.docs_per_topic)
        for name in ("complementarity", "disagreement", "noise", "preference_noise", "rarity"):
            need_at_least(0, name, getattr(self, name))
        for name in ("redundancy", "breadth", "fifth", "judged_again", "context", "weak", "strong"):
            need_share(name, getattr(self, name))
        for name, words in (("design", DESIGNS), ("labelled", LABELLED)):
            if getattr(self, name) not in words:
                raise SettingError(f"{name} is {getattr(self, name)!r}", hint=known_names(getattr(self, name), words))
        if not min(self.shape) > 0:
            raise SettingError(f"shape is {self.shape}, expected two numbers over 0", hint="the default is (2, 5)")
        need_ordered(self.scale)
        if self.judged_again and self.again_by >= self.n_assessors:
            message = f"{self.again_by + 1} assessors of a topic are requested, and there are {self.n_assessors}"
            raise SettingError(message, hint="use more assessors, or fewer for each topic")
        if self.strong > self.weak:
            message = f"strong is {self.strong:g} and weak {self.weak:g}: a strong preference is also a weak one"
            raise SettingError(message, hint="the paper has 0.23 and 0.91")

    @property
    def top(self) -> int:
        """Number of the highest grade."""
        return len(self.scale) - 1
