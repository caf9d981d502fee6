"""Papers: a module of tables for each, printed numbers beside the functions that compute them.

``ALL`` is the list of all tables.  A module is imported when its tables are asked for, so that the names of the
papers cost nothing; to add a paper is to add a module with ``TABLES`` and a line here.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from venire.papers.table import Table

    ALL: list[Table]

PAPERS = {
    "turpin2009": "Turpin and Scholer (2009), Modelling Disagreement Between Judges for Information Retrieval System "
    "Evaluation, Australasian Document Computing Symposium",
    "demeester2014": "Demeester et al. (2014), Exploiting User Disagreement for Web Search Evaluation, WSDM, "
    "doi:10.1145/2556195.2556268",
    "golbus2014": "Golbus et al. (2014), Contextual and Dimensional Relevance Judgments for Reusable SERP-Level "
    "Evaluation, WWW, doi:10.1145/2566486.2568015",
    "demeester2015": "Demeester et al. (2015), Predicting Relevance Based on Assessor Disagreement, Information "
    "Retrieval Journal, doi:10.1007/s10791-015-9275-x",
    "chu2021": "Chu et al. (2021), Evaluating Relevance Judgments with Pairwise Discriminative Power, CIKM, "
    "doi:10.1145/3459637.3482428",
}


def tables_of(paper: str) -> list[Table]:
    """Return the tables of one paper."""
    if paper not in PAPERS:
        from venire.errors import UnknownName

        raise UnknownName("paper", paper, PAPERS)
    return list(import_module(f"venire.papers.{paper}").TABLES)


def __getattr__(name: str) -> object:
    if name == "ALL":
        return [table for paper in PAPERS for table in tables_of(paper)]
    raise AttributeError(f"module 'venire.papers' has no attribute {name!r}")
