"""Groups of systems that do not differ: a letter display.

Two systems that differ significantly share no group, and every two that do not share at least one (a letter display:
Piepho 2004, Journal of Computational and Graphical Statistics 13, 456-466).  Groups are a cover by cliques, which grow
greedily (Gramm et al. 2007, doi:10.1016/j.csda.2006.09.035): the first pair that no group holds begins a group, to
which systems are added in their order as long as they differ from none of its members.  O(systems^3) at most.
"""

from __future__ import annotations

import numpy as np

from venire.types import Bools


def groups(different: Bools) -> Bools:
    """Return groups of systems that do not differ; different (system, system) -> member (group, system).

    Systems are in the order in which groups are filled, best first.  A system that differs from all others is a group
    of its own.

    Examples
    --------
    >>> groups(np.array([[0, 0, 1], [0, 0, 0], [1, 0, 0]], dtype=bool)).astype(int).tolist()
    [[1, 1, 0], [0, 1, 1]]
    """
    n, alike = len(different), ~(different | different.T)
    held, found = np.zeros((n, n), dtype=np.bool_), list[Bools]()
    for one in range(n):
        for other in range(one, n):
            alone = other == one and not (alike[one] & (np.arange(n) != one)).any()
            if held[one, other] or not (alone or (other > one and alike[one, other])):
                continue
            member = _grown(alike, one, other)
            held |= np.outer(member, member)
            found.append(member)
    return np.array(found, dtype=np.bool_).reshape(len(found), n)


def _grown(alike: Bools, one: int, other: int) -> Bools:
    """Return the largest group around two systems when others join in their order -> (system,)."""
    member = np.zeros(len(alike), dtype=np.bool_)
    member[[one, other]] = True
    for system in range(len(alike)):
        member[system] |= bool(alike[system][member].all())
    return member
