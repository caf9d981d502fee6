"""Simulated documents: short texts whose relevance to their query is known, for a demo of judging.

Each topic is a small task at home.  A document is made of sentences that help with the task, the first of which names
it, sentences about the same thing that do not help, and sentences that help with another task:

    label  about the thing  help                with another task
    2      1                the first, 3 more
    1      2                1                   1
    0                                           the first, 3 more

Its last sentence says where the text comes from, which a reader may trust or not, whatever its relevance.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from venire.types import RNGLike

FIRST = "To {task}, you need {need}."
HELPFUL = (
    "First {first}.",
    "Then {then}.",
    "Allow {time} for it.",
    "A common mistake is to {mistake}.",
    "You are done when {done}.",
)
ABOUT = (
    "Many households have a {thing}.",
    "The first {thing} was sold long before our time.",
    "A {thing} is a welcome present.",
    "Prices of a {thing} differ a lot between shops.",
)
SOURCES = {
    True: ("Two specialists reviewed this text.", "The advice was tested ten times, with notes on every attempt."),
    False: ("Somebody told me so on a train.", "I have not tried this myself."),
}
TITLES = ("About the", "Notes on the", "Your")
SENTENCES = {2: (1, 4, 0), 1: (2, 1, 1), 0: (0, 0, 4)}
"""Sentences by label: about the thing, that help, that help with another task."""
GRADES = (2, 2, 1, 1, 0, 0)

_SLOTS = ("task", "thing", "need", "first", "then", "time", "mistake", "done")
_TASKS = (
    "remove limescale from a kettle|kettle|white vinegar and a soft sponge|fill the kettle half with vinegar and water"
    "|let it stand and rinse it well|about half an hour|boil the vinegar without opening a window"
    "|the metal shines again",
    "mend a flat bicycle tyre|bicycle|a patch, glue and two levers|take out the tube and find the hole under water"
    "|roughen the rubber and press the patch on|about twenty minutes|leave the thorn in the tyre"
    "|the tube holds air overnight",
    "sow carrots in a garden bed|garden bed|seed, sand and a rake|loosen the soil deeply and take out stones"
    "|sow thinly in rows and cover with fine soil|about three weeks|sow into fresh manure"
    "|the rows are green and thinned out",
    "sharpen a kitchen knife|kitchen knife|a whetstone and water|soak the stone until no bubbles rise"
    "|draw the blade over it at a low angle|about fifteen minutes|press too hard at the tip"
    "|it cuts paper without tearing",
    "bleed a radiator|radiator|a radiator key and a cloth|turn the heating off and wait until it is cold"
    "|open the valve until water comes out|ten minutes|open the valve while the pump runs"
    "|the top is as warm as the bottom",
    "start a sourdough|sourdough jar|rye flour and warm water|mix equal parts of flour and water"
    "|feed the mixture every day and keep it warm|about a week|close the lid tightly|it doubles in a few hours",
    "remove a coffee stain from a carpet|carpet|cold water, vinegar and a white cloth|dab the stain with a dry cloth"
    "|dab it with diluted vinegar from the edge inwards|about fifteen minutes|rub the stain into the pile"
    "|the cloth stays clean",
    "repot an orchid|orchid|bark, scissors and a clear pot|shake the old bark from the roots"
    "|cut off dead roots and fill in new bark|about half an hour|use ordinary potting soil|the plant stands firmly",
    "tune a guitar by ear|guitar|a reference note|tune the lowest string to the note"
    "|compare each string with the one before at the fifth fret|about five minutes|loosen a string and stop there"
    "|a chord sounds without beats",
    "descend safely with walking poles|walking pole|two poles and a strap that fits|make the poles a little longer"
    "|set both poles ahead of you on steep ground|an afternoon of practice|lock the elbows"
    "|your knees do not hurt in the evening",
)
TASKS = tuple(dict(zip(_SLOTS, text.split("|"), strict=True)) for text in _TASKS)


@dataclass(frozen=True)
class SimulatedTopic:
    """A query, and what its author wants to know."""

    topic: str
    query: str
    description: str


@dataclass(frozen=True)
class SimulatedDocument:
    """A text; label: its true relevance for its topic; reliable: whether its last sentence inspires trust."""

    doc: str
    topic: str
    title: str
    snippet: str
    text: str
    label: int
    reliable: bool


def simulate_topics(n_topics: int = len(TASKS)) -> list[SimulatedTopic]:
    """Return topics, at most ten."""
    return [
        SimulatedTopic(f"t{n:02}", task["task"], f"How do I {task['task']}, step by step?")
        for n, task in enumerate(TASKS[:n_topics], 1)
    ]


def simulate_documents(
    topics: Sequence[SimulatedTopic], *, grades: Sequence[int] = GRADES, rng: RNGLike = None
) -> list[SimulatedDocument]:
    """Return documents for each topic, one for each of the grades, in random order.

    Examples
    --------
    >>> found = simulate_documents(simulate_topics(3), grades=(2, 0), rng=1)
    >>> print(found[0].label, found[0].snippet)
    2 Prices of a kettle differ a lot between shops.
    """
    draw = np.random.default_rng(rng)
    made = []
    for n, topic in enumerate(topics):
        other = TASKS[(n + 1 + int(draw.integers(len(TASKS) - 1))) % len(TASKS)]
        for place, label in enumerate(draw.permutation(grades).tolist(), 1):
            made.append(_document(topic, f"{topic.topic}-d{place}", label, TASKS[n], other, draw))
    return made


def _document(
    topic: SimulatedTopic, doc: str, label: int, own: dict[str, str], other: dict[str, str], draw: Generator
) -> SimulatedDocument:
    about, helpful, elsewhere = SENTENCES[label]
    reliable = bool(draw.integers(2))
    text = [
        *_drawn(ABOUT, about, own, draw),
        *_help(helpful, own, draw),
        *_help(elsewhere, other, draw),
        SOURCES[reliable][int(draw.integers(2))],
    ]
    title = f"{TITLES[int(draw.integers(len(TITLES)))]} {(own if label or draw.integers(2) else other)['thing']}"
    return SimulatedDocument(doc, topic.topic, title, text[0], " ".join(text), label, reliable)


def _help(n: int, words: dict[str, str], draw: Generator) -> list[str]:
    """Return sentences that help with a task; several begin with the one that names it."""
    first = [FIRST.format(**words)] if n > 1 else []
    return first + _drawn(HELPFUL, n - len(first), words, draw)


def _drawn(templates: Sequence[str], n: int, words: dict[str, str], draw: Generator) -> list[str]:
    """Draw sentences without repetition, in their order."""
    return [templates[at].format(**words) for at in sorted(draw.choice(len(templates), n, replace=False))]
