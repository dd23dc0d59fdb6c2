-- sqlrank 0.1.0: KendallTau
-- plan: counting=framed
-- for another: there is none for these metrics
WITH predictions AS NOT MATERIALIZED (
  /* predictions: what was predicted: a row per example */
  SELECT
    CAST(score AS DOUBLE) AS score,
    CAST(label AS DOUBLE) AS label,
    CAST(1 AS DOUBLE) AS weight
  FROM shop.eval.pairs
), extents AS (
  /* relations/extents.sql: one row per group: how many predictions it has, their weight, and whether all
   weigh 1. */
  SELECT
    COUNT(*) AS predictions,
    CASE WHEN MIN(weight) = 1 AND MAX(weight) = 1 THEN 1 ELSE 0 END AS unweighted
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
), plain_lists AS (
  /* relations/plain_lists.sql: one row per group of more than 32 predictions: whether it is plain (1),
   all its predictions weighing 1 and few of them being the same. */
  SELECT
    CASE WHEN MAX(x.unweighted) = 1 AND 8 * COUNT(*) > MAX(x.predictions) THEN 1 ELSE 0 END AS is_plain
  FROM entries AS e
  CROSS JOIN extents AS x
), ordered AS (
  /* relations/ordered/not_plain.sql: the entries of a list that is not plain, with the places of their
   score and of their label among its different ones, each from 0, and how many different labels
   there are. */
  SELECT
    weight, score_place, label_place,
    1 + MAX(label_place) OVER () AS labels
  FROM (
    SELECT
      e.weight,
      DENSE_RANK() OVER (ORDER BY e.score) - 1 AS score_place,
      DENSE_RANK() OVER (ORDER BY e.label) - 1 AS label_place
    FROM entries AS e
    CROSS JOIN plain_lists AS l
    WHERE l.is_plain = 0
  ) AS placed
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
    CAST(FLOOR(EXP((1 + a.digit + 10 * b.digit) * LN(2)) + 0.5e0) AS BIGINT) AS span
  FROM digits AS a
  CROSS JOIN digits AS b
  WHERE b.digit < 4
), bit_inversions AS (
  /* relations/bit_inversions.sql: one row per group: the weight of its pairs that are in the same and in
   opposite order by label and by score. */
  SELECT
    SUM(upper_weight * lower_before) AS concordant,
    SUM(lower_weight * upper_before) AS discordant
  FROM (
    SELECT
      lower_weight, upper_weight,
      COALESCE(
        SUM(lower_weight) OVER (PARTITION BY part ORDER BY score_place ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING),
        0
      ) AS lower_before,
      COALESCE(
        SUM(upper_weight) OVER (PARTITION BY part ORDER BY score_place ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING),
        0
      ) AS upper_before
    FROM (
      SELECT
        part, score_place,
        SUM(CASE WHEN half = 2 * part THEN weight ELSE 0 END) AS lower_weight,
        SUM(CASE WHEN half = 2 * part THEN 0 ELSE weight END) AS upper_weight
      FROM (
        SELECT
          o.score_place, o.weight,
          CAST(FLOOR((o.label_place + 1099511627776) / s.span) AS BIGINT) AS part,
          CAST(FLOOR(2 * (o.label_place + 1099511627776) / s.span) AS BIGINT) AS half
        FROM ordered AS o
        JOIN spans AS s ON s.span < 2 * o.labels
      ) AS cut
      GROUP BY part, score_place
    ) AS halves
  ) AS running
), tied_pairs AS (
  /* relations/tied_pairs.sql: one row per label and score that occur together in a list: the weight of
   its pairs with those before it of the same score, and of the same label. */
  SELECT
    weight * COALESCE(
      SUM(weight) OVER (PARTITION BY score_place ORDER BY label_place ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING),
      0
    ) AS score_ties,
    weight * COALESCE(
      SUM(weight) OVER (PARTITION BY label_place ORDER BY score_place ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING),
      0
    ) AS label_ties
  FROM ordered
), inversions AS (
  /* relations/inversions/framed.sql: rows per group of more than 32 predictions whose sums are the
   weight of its pairs that label and score put in the same order, in opposite order, and of those
   tied in one of them only. */
  SELECT
    concordant, discordant,
    0 AS score_ties,
    0 AS label_ties
  FROM bit_inversions
  UNION ALL
  SELECT
    0 AS concordant,
    0 AS discordant,
    score_ties, label_ties
  FROM tied_pairs
  UNION ALL
  SELECT
    SUM(score_rank - place - rank_in_label + 1) AS concordant,
    SUM(place - 1) AS discordant,
    SUM(both_rank - score_rank) AS score_ties,
    SUM(rank_in_label - 1) AS label_ties
  FROM (
    SELECT
      RANK(
      ORDER BY p.label DESC) OVER (ORDER BY p.score, p.label ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS place,
      RANK() OVER (ORDER BY p.score, p.label) AS both_rank,
      RANK() OVER (ORDER BY p.score) AS score_rank,
      RANK() OVER (PARTITION BY p.label ORDER BY p.score) AS rank_in_label
    FROM sized AS p
    CROSS JOIN plain_lists AS l
    WHERE p.predictions > 32 AND l.is_plain = 1
  ) AS ranked
), short_lists AS (
  /* relations/short_lists.sql: one row per group of at most 32 predictions: the weight of its pairs that
   label and score put in the same order, in opposite order, and of those tied in one of them only. */
  SELECT
    SUM(CASE WHEN a.score < b.score AND a.label < b.label THEN a.weight * b.weight ELSE 0 END) AS concordant,
    SUM(CASE WHEN a.score < b.score AND a.label > b.label THEN a.weight * b.weight ELSE 0 END) AS discordant,
    SUM(CASE WHEN a.score = b.score THEN a.weight * b.weight ELSE 0 END) AS score_ties,
    SUM(CASE WHEN a.label = b.label THEN a.weight * b.weight ELSE 0 END) AS label_ties
  FROM sized AS a
  CROSS JOIN sized AS b
  WHERE
    a.predictions <= 32
    AND b.predictions <= 32
    AND (a.score < b.score OR (a.score = b.score AND a.label > b.label))
), pairs AS (
  /* relations/pairs.sql: one row per group with the weight of its pairs of predictions, which is the
   product of their weights: those that label and score put in the same order, in opposite order,
   and those tied in one of them only. */
  SELECT
    SUM(concordant) AS concordant,
    SUM(discordant) AS discordant,
    SUM(score_ties) AS score_ties,
    SUM(label_ties) AS label_ties
  FROM (
    SELECT
      0 AS concordant,
      0 AS discordant,
      0 AS score_ties,
      0 AS label_ties
    FROM extents
    UNION ALL
    SELECT
      concordant, discordant, score_ties, label_ties
    FROM short_lists
    UNION ALL
    SELECT
      concordant, discordant, score_ties, label_ties
    FROM inversions
  ) AS counted
), correlated AS (
  /* relations/correlated/b.sql: one row per group with its pairs in the same and in opposite order, and
   what tau-b divides by: the geometric mean of the pairs not tied by label and of those not tied by
   score, without their product, which might be too large. */
  SELECT
    concordant, discordant,
    (concordant + discordant + score_ties) * SQRT((concordant + discordant + label_ties) / NULLIF(concordant + discordant + score_ties, 0)) AS scale
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
