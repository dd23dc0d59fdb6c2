-- many_terms: groups of which mutual information at random is a sum of too many terms, as many as the smaller of each two sizes.
SELECT
  p.group_id,
  SUM(CASE WHEN p.size < t.size THEN p.size ELSE t.size END) AS terms -- more than 100,000,000 are not summed; ask for AdjustedRand or VMeasure
FROM predicted_sizes AS p
JOIN true_sizes AS t
  ON p.group_id = t.group_id
GROUP BY p.group_id
HAVING SUM(CASE WHEN p.size < t.size THEN p.size ELSE t.size END) > 100000000
