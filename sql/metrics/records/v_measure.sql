-- VMeasure: harmonic mean of homogeneity and completeness, if beta is 1; then it is NMI by the arithmetic mean.
--     VMeasure = (1 + beta) homogeneity completeness / (beta homogeneity + completeness)
-- Full name: V-measure.
-- Use when: you want one number for homogeneity and completeness. It is not adjusted for chance.
-- $beta: number from 0, default 1: how much more completeness counts than homogeneity.
-- Range: 0 to 1.
-- Interval: none (records of one cluster are not independent. Sampled metrics of a sample of true clusters have intervals)
-- Undefined: no records; at beta=0, a completeness of 0 beside a homogeneity above 0.
-- Source: Rosenberg & Hirschberg 2007; scikit-learn v_measure_score.
SELECT
  group_id,
  MAX(
    CASE
      WHEN homogeneity + completeness > 0 THEN (1 + $beta) * homogeneity * completeness / NULLIF($beta * homogeneity + completeness, 0)
      ELSE 0
    END
  ) AS v_measure
FROM cluster_entropies
GROUP BY group_id
