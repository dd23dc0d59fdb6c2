-- Four weeks of impressions of two campaigns, made of hashes, so that they are the same everywhere. From 22 March on the scores of campaign
-- b are those of other impressions: somebody joined them wrongly. late_click is what is known of a click on the evening of its day.
WITH numbered AS (
  SELECT
    DATE '2026-03-01' + CAST(d AS INT) AS day,
    c AS campaign,
    i,
    CAST('0x' || SUBSTR(MD5(d || c || i || 'score'), 1, 8) AS UBIGINT) / 4294967296.0 AS drawn,
    CAST('0x' || SUBSTR(MD5(d || c || i || 'click'), 1, 8) AS UBIGINT) / 4294967296.0 AS chance,
    CAST('0x' || SUBSTR(MD5(d || c || i || 'other'), 1, 8) AS UBIGINT) / 4294967296.0 AS other
  FROM RANGE(28) AS days(d), (VALUES ('a'), ('b')) AS campaigns(c), RANGE(600) AS impressions(i)
)
SELECT
  day,
  campaign,
  0.01 + 0.5 * POWER(CASE WHEN campaign = 'b' AND day >= DATE '2026-03-22' THEN other ELSE drawn END, 4) AS score,
  CAST(chance < 0.01 + 0.5 * POWER(drawn, 4) AS INT) AS click,
  CAST(chance < 0.01 + 0.5 * POWER(drawn, 4) AND other < 0.5 AS INT) AS late_click
FROM numbered
