-- heights: one row of amounts with the cell of the score axis that its score falls in, and its place there, from 0 to 1. The
-- axis is fine near 0, near 1 and near -1, where probabilities and correlations crowd, and coarse far out.
-- Costly: equal scores are added up.
-- Never zero: size.
SELECT
  group_id,
  score,
  positives,
  squares,
  negatives,
  negative_squares,
  positive_rows,
  negative_rows,
  observed,
  tied_rows,
  CAST(FLOOR(height) AS BIGINT) AS cell,
  height - FLOOR(height) AS place
FROM (
  SELECT
    group_id,
    score,
    positives,
    squares,
    negatives,
    negative_squares,
    positive_rows,
    negative_rows,
    observed,
    tied_rows,
    4096 * (CASE WHEN score < 0 THEN -1 ELSE 1 END)
      * (CASE WHEN size <= 0.5 THEN bent WHEN size <= 1 THEN 1.92 - bent ELSE 2.92 - bent END) AS height
  FROM (
    SELECT
      group_id,
      score,
      positives,
      squares,
      negatives,
      negative_squares,
      positive_rows,
      negative_rows,
      observed,
      tied_rows,
      size,
      crowding(CASE WHEN size <= 0.5 THEN size WHEN size <= 1 THEN 1 - size ELSE 1 / size END) AS bent
    FROM (
      SELECT
        group_id,
        score,
        positives,
        squares,
        negatives,
        negative_squares,
        positive_rows,
        negative_rows,
        observed,
        tied_rows,
        ABS(CAST(score AS DOUBLE)) AS size
      FROM amounts
    ) AS sized
  ) AS distant
) AS high
