-- sqlrank 0.1.0: KendallTau
-- plan: counting=bits
-- for another: there is none for these metrics
WITH predictions AS (
  /* predictions: what was predicted: a row per example */
  SELECT
    CAST(score AS DOUBLE) AS score,
    CAST(label AS DOUBLE) AS label,
    CAST(1 AS DOUBLE) AS weight
  FROM shop.eval.pairs
), extents AS (
  /* relations/extents.sql: one row per group: how many predictions it has, their weight, the sum of the
   squares of that, whether all weigh 1, and whether labels and scores vary (1) or are all the same
   (0). */
  SELECT
    COUNT(*) AS predictions,
    SUM(weight) AS weight,
    CASE WHEN MIN(label) < MAX(label) AND MIN(score) < MAX(score) THEN 1 ELSE 0 END AS varies
  FROM predictions
  WHERE weight > 0
), sized AS (
  /* relations/sized.sql: the predictions, with the number of predictions of their group. */
  SELECT
    p.label, p.score, p.weight, x.predictions
  FROM predictions AS p
  CROSS JOIN extents AS x
  WHERE p.weight > 0
), entries AS (
  /* relations/entries.sql: one row per label and score that occur together in a list of more than 32
   predictions, with their weight. */
  SELECT
    label, score,
    SUM(weight) AS weight
  FROM sized
  WHERE predictions > 32
  GROUP BY label, score
), tied_pairs AS (
  /* relations/tied_pairs.sql: one row per label or score of a list of more than 32 predictions, with the
   weight of the pairs that are tied in it alone. */
  SELECT
    (SUM(weight) * SUM(weight) - SUM(weight * weight)) / 2 AS score_ties,
    0 AS label_ties
  FROM entries
  GROUP BY score
  UNION ALL
  SELECT
    0 AS score_ties,
    (SUM(weight) * SUM(weight) - SUM(weight * weight)) / 2 AS label_ties
  FROM entries
  GROUP BY label
), ordered AS (
  /* relations/ordered/all_long.sql: the entries of a list, numbered in order of score and in order of
   label, each from 0; what is tied in one is numbered in the order of the other, so that it is not
   in opposite order. */
  SELECT
    weight,
    COUNT(*) OVER () AS entries,
    ROW_NUMBER() OVER (ORDER BY score, label) - 1 AS score_place,
    ROW_NUMBER() OVER (ORDER BY label, score) - 1 AS label_place
  FROM entries
), digits AS (
  /* relations/digits.sql: 0 to 9. */
  SELECT
    0 AS digit
  UNION ALL
  SELECT
    1 AS digit
  UNION ALL
  SELECT
    2 AS digit
  UNION ALL
  SELECT
    3 AS digit
  UNION ALL
  SELECT
    4 AS digit
  UNION ALL
  SELECT
    5 AS digit
  UNION ALL
  SELECT
    6 AS digit
  UNION ALL
  SELECT
    7 AS digit
  UNION ALL
  SELECT
    8 AS digit
  UNION ALL
  SELECT
    9 AS digit
), spans AS (
  /* relations/spans.sql: the powers of two from 2 to 2^40, more than any list has entries. */
  SELECT
    CAST(FLOOR(EXP((1 + a.digit + 10 * b.digit) * LN(CAST(2 AS DOUBLE))) + CAST(0.5 AS DOUBLE)) AS BIGINT) AS span
  FROM digits AS a
  CROSS JOIN digits AS b
  WHERE b.digit < 4
), bit_inversions AS (
  /* relations/bit_inversions.sql: one row per group: the weight of its pairs that are in opposite order
   by label and by score. */
  SELECT
    SUM(weight * turn * weight_before) AS discordant
  FROM (
    SELECT
      weight,
      CASE WHEN half = 2 * part THEN 1 ELSE 0 END
      - CASE WHEN span < entries AND part = 2 * FLOOR(part / CAST(2 AS DOUBLE)) THEN 1 ELSE 0 END AS turn,
      COALESCE(
        SUM(weight) OVER (PARTITION BY part ORDER BY score_place ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING),
        0
      ) AS weight_before
    FROM (
      SELECT
        o.weight, o.entries, o.score_place, s.span,
        CAST(FLOOR(CAST(o.label_place + 1099511627776 AS DOUBLE) / s.span) AS BIGINT) AS part,
        CAST(FLOOR(CAST(2 * (o.label_place + 1099511627776) AS DOUBLE) / s.span) AS BIGINT) AS half
      FROM ordered AS o
      JOIN spans AS s ON s.span < 2 * o.entries
    ) AS cut
  ) AS running
), short_lists AS (
  /* relations/short_lists.sql: one row per group of at most 32 predictions: the weight of its pairs that
   are in opposite order by label and by score, of those tied in one of them only, and the sum of
   squares of what is tied in both. */
  SELECT
    SUM(CASE WHEN a.score < b.score AND a.label > b.label THEN a.weight * b.weight ELSE 0 END) AS discordant,
    SUM(CASE WHEN a.score < b.score AND a.label = b.label THEN a.weight * b.weight ELSE 0 END) AS label_ties,
    SUM(CASE WHEN a.score = b.score AND a.label > b.label THEN a.weight * b.weight ELSE 0 END) AS score_ties,
    SUM(CASE WHEN a.score = b.score AND a.label = b.label THEN a.weight * b.weight ELSE 0 END) AS entry_squares
  FROM sized AS a
  CROSS JOIN sized AS b
  WHERE a.predictions <= 32 AND b.predictions <= 32 AND a.score <= b.score AND a.label >= b.label
), pairs AS (
  /* relations/pairs.sql: one row per group with the weight of its pairs of predictions, which is the
   product of their weights: those that label and score put in the same order, in opposite order,
   those tied in one of them only, and all. */
  SELECT
    CASE
      WHEN MAX(varies) = 1
      THEN (SUM(weight) * SUM(weight) - SUM(entry_squares)) / 2
      - SUM(discordant)
      - SUM(score_ties)
      - SUM(label_ties)
      ELSE 0
    END AS concordant,
    CASE WHEN MAX(varies) = 1 THEN SUM(discordant) ELSE 0 END AS discordant,
    SUM(score_ties) AS score_ties,
    SUM(label_ties) AS label_ties
  FROM (
    SELECT
      weight, varies,
      0 AS entry_squares,
      0 AS discordant,
      0 AS score_ties,
      0 AS label_ties
    FROM extents
    UNION ALL
    SELECT
      0 AS weight,
      0 AS varies,
      entry_squares, discordant, score_ties, label_ties
    FROM short_lists
    UNION ALL
    SELECT
      0 AS weight,
      0 AS varies,
      weight * weight AS entry_squares,
      0 AS discordant,
      0 AS score_ties,
      0 AS label_ties
    FROM entries
    UNION ALL
    SELECT
      0 AS weight,
      0 AS varies,
      0 AS entry_squares,
      discordant,
      0 AS score_ties,
      0 AS label_ties
    FROM bit_inversions AS inversions
    UNION ALL
    SELECT
      0 AS weight,
      0 AS varies,
      0 AS entry_squares,
      0 AS discordant,
      score_ties, label_ties
    FROM tied_pairs
  ) AS counted
), correlated AS (
  /* relations/correlated/b.sql: one row per group with its pairs in the same and in opposite order, and
   what tau-b divides by: the geometric mean of the pairs not tied by label and of those not tied by
   score. */
  SELECT
    concordant, discordant,
    SQRT((concordant + discordant + score_ties) * (concordant + discordant + label_ties)) AS scale
  FROM pairs
), by_correlated AS (
  /* one row per group */
  SELECT
    /* KendallTau: Kendall's rank correlation of labels and scores: pairs in the same order less those in opposite order. */
    SUM(concordant - discordant) / NULLIF(SUM(scale), 0) AS kendalltau
  FROM correlated
)
SELECT
  by_correlated.kendalltau AS kendalltau
FROM by_correlated;
