-- expected: one row per group: the mutual information that clusterings of these sizes have at random, on the average.
-- Never zero: records, predicted_size * true_size.
SELECT
  group_id,
  SUM(clusters * told / NULLIF(chance, 0)) AS expected_information
FROM (
  SELECT
    group_id,
    MAX(clusters) AS clusters,
    SUM(ordinal / records * LN(records * ordinal / (predicted_size * true_size)) * likelihood) AS told,
    SUM(likelihood) + MAX(CASE WHEN predicted_size + true_size <= records AND highest < 700 THEN EXP(-highest) ELSE 0 END) AS chance
  FROM (
    SELECT
      group_id,
      predicted_size,
      true_size,
      clusters,
      records,
      ordinal,
      highest,
      CASE WHEN climbed - highest > -700 THEN EXP(climbed - highest) ELSE 0 END AS likelihood
    FROM (
      SELECT
        group_id,
        predicted_size,
        true_size,
        clusters,
        records,
        ordinal,
        climbed,
        MAX(CASE WHEN climbed > 0 THEN climbed ELSE 0 END) OVER (PARTITION BY group_id, predicted_size, true_size) AS highest
      FROM chances
    ) AS scaled
  ) AS weighed
  GROUP BY group_id, predicted_size, true_size
) AS met
GROUP BY group_id
