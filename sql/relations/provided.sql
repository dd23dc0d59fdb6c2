-- provided: one row per group and provider: the share of its items in the exposure of all, and in the catalogue.
-- $k: integer from 1, default all: cut-off, the documents of a list that are looked at.
-- discount(): default log2: what a rank is worth.
SELECT
  group_id,
  provider,
  exposure / NULLIF(SUM(exposure) OVER (PARTITION BY group_id), 0) AS exposure_share,
  docs / NULLIF(SUM(docs) OVER (PARTITION BY group_id), 0) AS catalogue_share
FROM (
  SELECT
    group_id,
    provider,
    SUM(exposure) AS exposure,
    SUM(docs) AS docs
  FROM (
    SELECT
      g.group_id,
      s.provider,
      0 AS exposure,
      s.docs
    FROM (
      SELECT
        group_id,
        COUNT(*) AS all_lists
      FROM members
      GROUP BY group_id
    ) AS g
    JOIN (
      SELECT
        group_id,
        provider,
        COUNT(*) AS docs
      FROM stock
      GROUP BY group_id, provider
    ) AS s ON s.group_id = g.group_id
    UNION ALL
    SELECT
      m.group_id,
      s.provider,
      discount(r.rank) AS exposure,
      0 AS docs
    FROM ranked AS r
    JOIN members AS m ON m.list_id = r.list_id
    JOIN stock AS s ON s.group_id = m.group_id AND s.doc_id = r.doc_id
    WHERE r.rank <= $k
  ) AS parts
  GROUP BY group_id, provider
) AS added
