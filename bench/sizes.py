"""Sizes of the workloads, and the measures computed on them."""

OURS = ("nDCG@10", "AP", "P@10", "RR", "R@100")
TREC = ("ndcg_cut_10", "map", "P_10", "recip_rank", "recall_100")
RANX = ("ndcg@10", "map", "precision@10", "mrr", "recall@100")
LINES = {"w1": 40 * 50 * 1_000, "w2": 6_980 * 1_000}
GROWTH = (1, 2, 4, 8)
GROWTH_LINES = 870_000
CROWD = 98_453
N_LABELS = (1_250_000, 2_500_000, 5_000_000, 10_000_000)
