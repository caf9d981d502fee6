"""What one writes with pytrec_eval to get the means of a run: `python bench/means.py QRELS RUN`."""

import sys

import pytrec_eval

with open(sys.argv[1]) as file:  # noqa: PTH123
    evaluator = pytrec_eval.RelevanceEvaluator(
        pytrec_eval.parse_qrel(file), {"ndcg_cut_10", "map", "P_10", "recip_rank", "recall_100"}
    )
with open(sys.argv[2]) as file:  # noqa: PTH123
    topics = evaluator.evaluate(pytrec_eval.parse_run(file)).values()
for name in ("ndcg_cut_10", "map", "P_10", "recip_rank", "recall_100"):
    print(f"{name}\t{sum(topic[name] for topic in topics) / len(topics):.4f}")
