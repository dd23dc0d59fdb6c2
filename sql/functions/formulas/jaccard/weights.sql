-- jaccard: Jaccard index, the weight that is observed and predicted over that which is one or both; NULL without either.
CREATE MACRO jaccard(hits, observed, predicted) AS hits / NULLIF(observed + predicted - hits, 0)
