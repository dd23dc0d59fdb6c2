-- sqlrank 0.1.0: SNIPS, DR, ESS, MeanWeight
-- plan: one scan of each input
-- for another: there is none for these metrics
WITH logs AS NOT MATERIALIZED (
  /* logs: what a policy did and what came of it: a row per logged action */
  SELECT
    "campaign",
    CAST(reward AS DOUBLE PRECISION) AS reward,
    CAST(propensity AS DOUBLE PRECISION) AS propensity,
    CAST(target AS DOUBLE PRECISION) AS target,
    CAST(predicted_reward AS DOUBLE PRECISION) AS predicted_reward,
    CAST(expected_reward AS DOUBLE PRECISION) AS expected_reward
  FROM shop.ads.logged
), by_logs AS (
  /* one row per group */
  SELECT
    "campaign",
    /* SNIPS: IPS divided by the mean weight: steadier, and between the least reward and the greatest. */
    SUM((target / NULLIF(propensity, 0)) * reward) / NULLIF(SUM(target / NULLIF(propensity, 0)), 0) AS snips,
    /* DR: doubly robust: the rewards that were predicted for the target, and IPS of what predictions were off by. */
    SUM(expected_reward + (target / NULLIF(propensity, 0)) * (reward - predicted_reward))
    / NULLIF(COUNT(*), 0) AS dr,
    /* ESS: effective sample size: as how many actions of the target policy the logged ones count. */
    SUM(target / NULLIF(propensity, 0)) * SUM(target / NULLIF(propensity, 0))
    / NULLIF(SUM((target / NULLIF(propensity, 0)) * (target / NULLIF(propensity, 0))), 0) AS ess,
    /* MeanWeight: mean ratio of the probability of an action under the target to that under the logged policy, 1 if the logs are sound. */
    SUM(target / NULLIF(propensity, 0)) / NULLIF(COUNT(*), 0) AS meanweight,
    1 / NULLIF(SUM(target / NULLIF(propensity, 0)), 0) AS snips_by_1,
    (-(SUM((target / NULLIF(propensity, 0)) * reward) / NULLIF(SUM(target / NULLIF(propensity, 0)), 0)))
    / NULLIF(SUM(target / NULLIF(propensity, 0)), 0) AS snips_by_2,
    CAST(1 AS DOUBLE PRECISION) / NULLIF(COUNT(*), 0) AS dr_by_1,
    (
      -(
        SUM(expected_reward + (target / NULLIF(propensity, 0)) * (reward - predicted_reward))
        / NULLIF(COUNT(*), 0)
      )
    )
    / NULLIF(COUNT(*), 0) AS dr_by_2,
    CAST(1 AS DOUBLE PRECISION) / NULLIF(COUNT(*), 0) AS meanweight_by_1,
    (-(SUM(target / NULLIF(propensity, 0)) / NULLIF(COUNT(*), 0))) / NULLIF(COUNT(*), 0) AS meanweight_by_2
  FROM logs
  GROUP BY "campaign"
), influence_by_logs AS (
  /* one row per unit: how far it moves every metric */
  SELECT
    r."campaign",
    m.snips_by_1 * COALESCE((r.target / NULLIF(r.propensity, 0)) * r.reward, 0)
    + m.snips_by_2 * COALESCE(r.target / NULLIF(r.propensity, 0), 0) AS snips,
    m.dr_by_1 * COALESCE(r.expected_reward + (r.target / NULLIF(r.propensity, 0)) * (r.reward - r.predicted_reward), 0)
    + m.dr_by_2 AS dr,
    m.meanweight_by_1 * COALESCE(r.target / NULLIF(r.propensity, 0), 0) + m.meanweight_by_2 AS meanweight
  FROM logs AS r
  JOIN by_logs AS m ON m."campaign" IS NOT DISTINCT FROM r."campaign"
), spread_by_logs AS (
  /* one row per group: its units, and standard errors */
  SELECT
    "campaign",
    COUNT(*) AS units,
    SQRT(CAST(COUNT(snips) AS DOUBLE PRECISION) / NULLIF(COUNT(snips) - 1, 0) * SUM(snips * snips)) AS snips_se,
    SQRT(CAST(COUNT(dr) AS DOUBLE PRECISION) / NULLIF(COUNT(dr) - 1, 0) * SUM(dr * dr)) AS dr_se,
    SQRT(
      CAST(COUNT(meanweight) AS DOUBLE PRECISION) / NULLIF(COUNT(meanweight) - 1, 0) * SUM(meanweight * meanweight)
    ) AS meanweight_se
  FROM influence_by_logs
  GROUP BY "campaign"
), quantile_by_logs AS (
  /* one row per group: quantiles of Student's t, beside the metrics */
  SELECT
    "campaign", units, snips_se, dr_se, meanweight_se, snips_value, dr_value, meanweight_value,
    CASE
      WHEN units = 2
      THEN CAST(12.706204736174696 AS DOUBLE PRECISION)
      WHEN units = 3
      THEN CAST(4.30265272974946 AS DOUBLE PRECISION)
      ELSE CAST(1.9599639845400536 AS DOUBLE PRECISION)
      + (
        CAST(2.3722712298585114 AS DOUBLE PRECISION)
        + (
          CAST(2.8224987226099216 AS DOUBLE PRECISION)
          + (
            CAST(2.55584205174121 AS DOUBLE PRECISION)
            + (
              CAST(1.5897831427695066 AS DOUBLE PRECISION)
              + (
                CAST(0.7284722076660133 AS DOUBLE PRECISION)
                + (
                  CAST(0.6732166553417918 AS DOUBLE PRECISION)
                  + (
                    -CAST(0.13803302935737824 AS DOUBLE PRECISION)
                    + (
                      -CAST(1.0932322711783076 AS DOUBLE PRECISION)
                      + (
                        CAST(4.192747033331032 AS DOUBLE PRECISION)
                        + (
                          -CAST(5.569680760586609 AS DOUBLE PRECISION)
                          + CAST(2.8784080636910194 AS DOUBLE PRECISION) * units_inverse
                        ) * units_inverse
                      ) * units_inverse
                    ) * units_inverse
                  ) * units_inverse
                ) * units_inverse
              ) * units_inverse
            ) * units_inverse
          ) * units_inverse
        ) * units_inverse
      ) * units_inverse
    END AS units_quantile
  FROM (
    SELECT
      s."campaign", s.units, s.snips_se, s.dr_se, s.meanweight_se,
      m.snips AS snips_value,
      m.dr AS dr_value,
      m.meanweight AS meanweight_value,
      CAST(1 AS DOUBLE PRECISION) / NULLIF(s.units - 1, 0) AS units_inverse
    FROM spread_by_logs AS s
    JOIN by_logs AS m ON m."campaign" IS NOT DISTINCT FROM s."campaign"
  ) AS inverses
), reach_by_logs AS (
  /* one row per group: how far intervals reach */
  SELECT
    "campaign", units, snips_se,
    CASE
      WHEN snips_se > CAST('1e-12' AS DOUBLE PRECISION) * ABS(snips_value)
      THEN units_quantile * snips_se
    END AS snips_reach,
    dr_se,
    CASE WHEN dr_se > CAST('1e-12' AS DOUBLE PRECISION) * ABS(dr_value) THEN units_quantile * dr_se END AS dr_reach,
    meanweight_se,
    CASE
      WHEN meanweight_se > CAST('1e-12' AS DOUBLE PRECISION) * ABS(meanweight_value)
      THEN units_quantile * meanweight_se
    END AS meanweight_reach
  FROM quantile_by_logs
)
SELECT
  by_logs."campaign",
  by_logs.snips AS snips,
  by_logs.snips - reach_by_logs.snips_reach AS snips_low,
  by_logs.snips + reach_by_logs.snips_reach AS snips_high,
  reach_by_logs.snips_se AS snips_se,
  CAST(reach_by_logs.units AS BIGINT) AS snips_units,
  by_logs.dr AS dr,
  by_logs.dr - reach_by_logs.dr_reach AS dr_low,
  by_logs.dr + reach_by_logs.dr_reach AS dr_high,
  reach_by_logs.dr_se AS dr_se,
  CAST(reach_by_logs.units AS BIGINT) AS dr_units,
  by_logs.ess AS ess,
  CAST(NULL AS DOUBLE PRECISION) AS ess_low,
  CAST(NULL AS DOUBLE PRECISION) AS ess_high,
  CAST(NULL AS DOUBLE PRECISION) AS ess_se,
  CAST(NULL AS BIGINT) AS ess_units,
  by_logs.meanweight AS meanweight,
  by_logs.meanweight - reach_by_logs.meanweight_reach AS meanweight_low,
  by_logs.meanweight + reach_by_logs.meanweight_reach AS meanweight_high,
  reach_by_logs.meanweight_se AS meanweight_se,
  CAST(reach_by_logs.units AS BIGINT) AS meanweight_units
FROM by_logs
LEFT JOIN reach_by_logs ON reach_by_logs."campaign" IS NOT DISTINCT FROM by_logs."campaign"
ORDER BY by_logs."campaign" NULLS FIRST;
