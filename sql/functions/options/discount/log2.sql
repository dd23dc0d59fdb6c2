-- discount: 1 / log2(rank + 1), as in trec_eval and most tools (Burges et al. 2005).
-- Nonzero: LN(rank + 1).
CREATE MACRO discount(rank) AS LN(2) / LN(rank + 1)
