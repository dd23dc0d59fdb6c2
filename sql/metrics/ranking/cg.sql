-- CG: cumulative gain, the sum of the gains of the first k documents.
-- $k: integer from 1, default all: cut-off, the documents of a list that are looked at.
-- gain(): default linear: gain of a grade.
-- Undefined: a query without relevant documents.
-- Source: Järvelin & Kekäläinen 2002.
-- Linear: in chance.
SELECT
  list_id,
  CASE
    WHEN MAX(gain(relevance)) > 0 THEN SUM(CASE WHEN rank <= $k THEN chance * gain(relevance) ELSE 0 END)
  END AS cg
FROM valued
GROUP BY list_id
