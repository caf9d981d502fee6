"""Formulas: how every number of a report is made, by the table or picture that shows it, with its reference.

A report lists those whose table or picture it has, and those of the measures it uses: nothing is explained that is not
there.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import NamedTuple


class Formula(NamedTuple):
    """A number of the report: its name, how it is computed, and where that is from.

    shown : tables and pictures that have it; ``table.column`` and ``table=cell`` name what a table has where it varies
    """

    shown: tuple[str, ...]
    number: str
    formula: str
    reference: str


UDM = "Demeester et al. 2014, Eqs. 1-5, doi:10.1145/2556195.2556268"
PRM = "Demeester et al. 2015, Eq. 4, doi:10.1007/s10791-015-9275-x"
CHU = "Chu et al. 2021, Eqs. 2-10, doi:10.1145/3459637.3482428"
GOLBUS = "Golbus et al. 2014, Section 5, doi:10.1145/2566486.2568015"
LABELS = ("p_relevant", "changes_labels")
SYSTEMS = ("systems_scores",)

FORMULAS = (
    Formula(
        (*SYSTEMS, "verdict_sure"),
        "score of a system",
        "mean of the measure over topics; a topic without results scores 0",
        "trec_eval's convention",
    ),
    Formula(
        ("verdict_sure",),
        "winner",
        "the system w with the highest mean, if for every other system v a two-sided paired t-test over topics has "
        "p ≤ .05; a worse system is named in at most 2.5 % (intersection-union test)",
        "Berger 1982, Technometrics 24, 295-300",
    ),
    Formula(
        ("verdict_sure", "fragile_pairs"),
        "p value",
        "t = mean(d) √n / sd(d) of the n differences d by topic, Student's with n - 1 degrees of freedom; over all m "
        "pairs adjusted: max over j ≤ i of (m - j + 1) p_j, p ascending",
        "Student 1908; Holm 1979, Scandinavian Journal of Statistics 6, 65-70",
    ),
    Formula(
        ("verdict_sure",),
        "p first",
        "share of draws in which the system is ahead of all others; a first place that k share counts 1/k. Draws: "
        "topics with replacement; labels of another judge; both; relevance of a random user",
        "Efron 1979, doi:10.1214/aos/1176344552; below for judges and users",
    ),
    Formula(
        ("verdict_sure",),
        "margin",
        "95 % quantile over draws of max(0, highest mean of the other systems - mean of the system)",
        "",
    ),
    Formula(
        ("verdict_sure",),
        "detectable difference, topics needed",
        "least δ, least n, with P(|T| ≥ t at level .05) ≥ .8, T noncentral t with n - 1 degrees of freedom and "
        "parameter δ √n / s, s the standard deviation of the differences by topic",
        "Sakai 2016, doi:10.1007/s10791-015-9273-z",
    ),
    Formula(
        ("p_relevant",),
        "double judgments needed",
        "m with v/m + A/T ≤ d²: v the variance of p(R|i) by one double judgment, A that between T topics, d = .05",
        "after Demeester et al. 2015, Section 6",
    ),
    Formula(
        ("assessors",),
        "agreement and kappa of an assessor",
        "a, how often a random other assessor gives the same label; (a - c) / (1 - c), c the same for labels dealt out "
        "at random",
        "Cohen 1960, doi:10.1177/001316446002000104",
    ),
    Formula(("assessors",), "leniency", "mean over shared items of (level given - mean level by the others)", ""),
    Formula(("assessors",), "entropy", "-Σ p log2 p over the shares p of the labels given, in bits", "Shannon 1948"),
    Formula(
        ("agreement_statistics=krippendorff_alpha", "collapsed_labels=krippendorff_alpha"),
        "krippendorff alpha",
        "1 - (n - 1) Σ_u Σ_ck n_uc n_uk δ_ck / (m_u - 1) / Σ_ck n_c n_k δ_ck over items u with m_u ≥ 2 labels, n_uc of "
        "them c; δ: 1 if c ≠ k (nominal), squared difference of mid-ranks (ordinal)",
        "Krippendorff 2011, Computing Krippendorff's alpha-reliability",
    ),
    Formula(
        ("agreement_statistics=fleiss_kappa",),
        "fleiss kappa",
        "1 - D / Σ_ck π_c π_k δ_ck: D the mean distance δ of two labels of an item, π_c the mean share of label c; δ: "
        "1, difference, or its square",
        "Fleiss 1971, doi:10.1037/h0031619",
    ),
    Formula(
        ("agreement_statistics=cohen_kappa",),
        "cohen kappa",
        "1 - n o / Σ_ck r_c s_k δ_ck: o the summed distance of two assessors on n items, r and s how often each gave "
        "each label; mean over every two assessors",
        "Cohen 1968, doi:10.1037/h0026256; Light 1971, doi:10.1037/h0031643",
    ),
    Formula(
        ("agreement_statistics=gwet_ac",),
        "gwet ac",
        "(p_a - p_e) / (1 - p_e), p_e = Σ w / (q (q - 1)) · Σ_c π_c (1 - π_c) for q labels, w = 1 - δ / max δ",
        "Gwet 2008, doi:10.1348/000711006X126600",
    ),
    Formula(
        ("agreement_statistics=raw_agreement",),
        "raw agreement",
        "mean over items of the share of its pairs of labels that are the same",
        "",
    ),
    Formula(
        ("agreement_statistics=phi", "collapsed_labels=phi"),
        "phi",
        "1 - 2^(1 - rho/2), rho the posterior mean of the precision with which labels, within (0, 1), lie around the "
        "item's own centre by a beta distribution",
        "Checco et al. 2017, HCOMP",
    ),
    Formula(
        ("agreement_statistics=jaccard",),
        "jaccard",
        "relevant to both / relevant to either, from a label upwards; mean over every two assessors",
        "Voorhees 2000, doi:10.1016/S0306-4573(00)00010-8",
    ),
    Formula(
        LABELS,
        "p(R|i)",
        "hits / pairs: of the pairs of a label i by the judge and one by somebody else on the same result, the share "
        "whose second is in R; on results that some system has among its first 10, if enough were judged twice; "
        "Wilson's interval, by the spread over topics (fewer than ten: over items)",
        PRM,
    ),
    Formula(
        ("udm",),
        "UDM weight P(M/N)",
        "i in R: Σ_m≥M-1 C(N-1, m) p^m (1 - p)^(N-1-m); else Σ_m≥M of the same; p = p(R|i)",
        UDM,
    ),
    Formula(
        ("gains",),
        "gains",
        "linear: level i; exponential: 2^i - 1; binary: 1 in R, else 0",
        "Burges et al. 2005, doi:10.1145/1102351.1102363",
    ),
    Formula(("gains.udm:1/2",), "gains of models", "prm: p(R|i); udm: P(M/N), the lowest label 0", f"{PRM}; {UDM}"),
    Formula(
        ("systems_scores.random_user",),
        "random user",
        "mean over users u of the measure with gains r_ud ~ Bernoulli(p(R|i_d)); interval from resampled topics",
        "after Demeester et al. 2015, Section 3.2",
    ),
    Formula(
        ("systems_scores.expected_relevant",),
        "expected relevant",
        "mean over topics of Σ p(R|i) over the first 10 results; unjudged results count 0",
        "Demeester et al. 2015, Eq. 2",
    ),
    Formula(
        ("slopes", "tau", "changes_systems", "other_judges.tau"),
        "tau-b",
        "(concordant - discordant pairs) / √((pairs - ties in one order) (pairs - ties in the other))",
        "Kendall 1945, doi:10.1093/biomet/33.3.239",
    ),
    Formula(
        ("stability_map", "verdict_sure=another judge"),
        "another judge",
        "labels that the other judge gave stand; the rest is drawn with p(new label | old label), a matrix for every "
        "topic around that of the judge, each other assessor in turn; rows with few labels lean to proportional odds, "
        "documents to the labels that others gave them; P(row ahead) is the share of draws",
        "Turpin and Scholer 2009, generalised",
    ),
    Formula(
        ("verdict_sure=another judge on other topics",),
        "another judge on other topics",
        "Σ x'_t / n + Σ (w_t - 1) μ_t / n: x' the scores under a drawn judge, μ their means over draws, w_t how often "
        "topic t is drawn",
        "",
    ),
    Formula(
        ("discriminative_power", "collapsed_labels=discriminative_power"),
        "discriminative power",
        "share of pairs of systems with p ≤ .05 by the paired bootstrap over topics, unadjusted; difference: the "
        "largest that any pair needs",
        "Sakai 2006, doi:10.1145/1148170.1148261",
    ),
    Formula(
        ("pdp_values", "pdp_differences"),
        "PDP",
        "-Σ p(ranking) log p(ranking) over rankings of K documents under Plackett-Luce scores from preferences between "
        "labels; mean over lists and topics; 0: order known, log K!: nothing known; intervals: jackknife over topics "
        "with their tests",
        CHU,
    ),
    Formula(
        ("labels_told_apart_table",),
        "p(a > b)",
        "(choices for a + ties / 2) / choices between documents labelled a and b",
        CHU,
    ),
    Formula(
        ("measures_and_users_table", "context_sweep"),
        "kappa with users",
        "Cohen's kappa of the directions (better, tie, worse) by the measure and by users, over pairs of lists",
        GOLBUS,
    ),
    Formula(
        ("context_sweep",),
        "weight alpha of context",
        "u_i = (1 - alpha) g(d_i) + alpha g(d_i | d_i-1)",
        "Golbus et al. 2014, Eq. 1",
    ),
    Formula(("clicks",), "CTR", "satisfied clicks / impressions, mean over documents and then over topics", GOLBUS),
    Formula(
        ("measures_and_clicks_table",),
        "correlation with clicks",
        "tau-b and Spearman's rho over topics of the measure and the click-through rate",
        GOLBUS,
    ),
    Formula(("aspects",), "correlation of aspects", "Spearman's rho: Pearson's of ranks, ties at their mean", GOLBUS),
)

GAIN = "Järvelin and Kekäläinen 2002, doi:10.1145/582415.582418"
MEASURES = {
    "P": ("Σ g / k over the first k results, g = 1 above the lowest label (gains within 0..1: the gain)", "trec_eval"),
    "AP": ("(1/R) Σ (g/r) (1 + Σ_j<r g_j) over ranks r, g as for P, R = Σ g over all judged documents", "trec_eval"),
    "CG": ("Σ g over the first k results", GAIN),
    "DCG": ("Σ g / log2(r + 1) over ranks r", GAIN),
    "nDCG": ("DCG / DCG of the best ranking, DCG = Σ g / log2(r + 1) over ranks r", GAIN),
    "RBP": (
        "(1 - p) Σ p^(r - 1) g over ranks r, gains as a share of the highest",
        "Moffat and Zobel 2008, doi:10.1145/1416950.1416952",
    ),
    "ERR": (
        "Σ (s/r) Π_j<r (1 - s_j) over ranks r, s = (2^level - 1) / 2^top (gains within 0..1: the gain)",
        "Chapelle et al. 2009, doi:10.1145/1645953.1646033",
    ),
    "CCG": ("Σ_i (1 / log2(i + 1)) Σ_j≤i g_j over ranks i", "Golbus et al. 2014, Eq. 6, doi:10.1145/2566486.2568015"),
}


def formulas_of(shown: Collection[str], measures: Iterable[str]) -> list[tuple[str, str, str]]:
    """Return name, formula and reference of what tables and pictures show, and of the measures that are used.

    Examples
    --------
    >>> formulas_of(["entropy"], ["CG@5"])
    [('CG', 'Σ g over the first k results', 'Järvelin and Kekäläinen 2002, doi:10.1145/582415.582418')]
    """
    used = dict.fromkeys(name.partition("@")[0].partition("(")[0] for name in measures)
    told = [(name, *MEASURES[name]) for name in used if name in MEASURES]
    rows = [(each.number, each.formula, each.reference) for each in FORMULAS if set(each.shown) & set(shown)]
    return [*told, *rows]
