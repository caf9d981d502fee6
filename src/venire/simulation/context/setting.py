"""What collection in context to make: all its parameters, each stated once."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from venire.checks import need_at_least, need_share
from venire.data.scale import Scale
from venire.errors import SettingError, known_names
from venire.simulation.context.truth import DEPTH, DESIGNS, LABELLED, Engine
from venire.simulation.context.users import ClickModel

if TYPE_CHECKING:
    from venire.simulation.context.aspects import AspectModel

USUAL_SCALE = Scale.parse("bad<fair<good<excellent<perfect")


@dataclass(frozen=True, kw_only=True)
class ContextSetting:
    """What collection to make; the defaults come near the figures of the paper.

    Parameters
    ----------
    n_topics, docs_per_topic
        Topics; and for each, the documents that both engines choose from.
    scale
        Ordered labels; worth goes from 0, the lowest, to the number of the highest.
    shape
        Parameters of the Beta distribution of worth.
    n_facets, rarity, breadth
        Facets of information of a topic; how rare most of them are (0: all are everywhere); how much more of them good
        documents cover than bad ones, 0 to 1.  With low rarity and high breadth, the label of the document before tells
        how much of the next is repetition.
    redundancy
        Share of its worth that a document loses if all of it was in the document before, 0 to 1.
    complementarity
        Share of its worth that it wins if it has all that the document before left open.
    engines
        The two engines.
    design, fifth, labelled
        What is labelled: as in the ``"paper"``, with ranks 1 to 4 given rank 5 on a share ``fifth`` of the topics; or
        each of five ``"neighbours"`` given the one above.  Of ``"both"`` lists, or of the ``"left"`` one.
    n_assessors, judged_again, again_by
        Assessors, one of whom judges a topic; the share of topics that ``again_by`` others judge as well.
    disagreement, noise
        Standard deviations, in grades: of an assessor's own opinion of a document, and of a single label.
    context
        True alpha: the weight of u(d|c) in what a list is worth to users, 0 (each document alone) to 1.
    depth
        Documents that those who compare lists read.
    n_users, preference_noise
        Users who compare the two lists of a topic, and by how much, in grades, they err.
    weak, strong
        Shares of topics with a modal preference, and with one where slight preferences count as ties.
    clicks
        How users click.
    aspects
        Which aspects are labelled as well: ``AspectModel()`` for the paper's; None: none.
    """

    n_topics: int = 457
    docs_per_topic: int = 20
    scale: Scale = USUAL_SCALE
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
            raise SettingError(f"shape is {self.shape}, expected two numbers over 0", hint="the usual one is (2, 5)")
        self._check_who()

    def _check_who(self) -> None:
        if self.judged_again and self.again_by >= self.n_assessors:
            message = f"{self.again_by + 1} of {self.n_assessors} assessors are to judge one topic"
            raise SettingError(message, hint="ask for more assessors, or for fewer on a topic")
        if self.strong > self.weak:
            message = f"strong is {self.strong:g} and weak {self.weak:g}: a strong preference is a weak one too"
            raise SettingError(message, hint="the paper has 0.23 and 0.91")
        if len(self.scale) < 2 or not self.scale.ordered:
            raise SettingError(f"the scale {self.scale} has no two levels in order", hint='as in "bad<good"')

    @property
    def top(self) -> int:
        """Number of the highest grade."""
        return len(self.scale) - 1
