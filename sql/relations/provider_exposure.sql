-- provider_exposure: one row per group and provider, with the share of its items in the discounted exposure and in the catalog.
-- $k: integer from 1, default all: cut-off, the number of top-ranked documents of a list that count.
-- discount(): default log2: exposure of a document at a rank.
-- Grain: group_id, provider
SELECT
  group_id,
  provider,
  exposure / NULLIF(SUM(exposure) OVER (PARTITION BY group_id), 0) AS exposure_share,
  num_items / NULLIF(SUM(num_items) OVER (PARTITION BY group_id), 0) AS catalog_share
FROM (
  SELECT
    group_id,
    provider,
    SUM(exposure) AS exposure,
    SUM(num_items) AS num_items
  FROM (
    SELECT
      g.group_id,
      s.provider,
      0 AS exposure,
      s.num_items
    FROM (
      SELECT
        group_id,
        COUNT(*) AS all_lists
      FROM list_groups
      GROUP BY group_id
    ) AS g
    JOIN (
      SELECT
        group_id,
        provider,
        COUNT(*) AS num_items
      FROM item_providers
      GROUP BY group_id, provider
    ) AS s ON s.group_id = g.group_id
    UNION ALL
    SELECT
      m.group_id,
      s.provider,
      discount(r.rank) AS exposure,
      0 AS num_items
    FROM ranked_documents AS r
    JOIN list_groups AS m ON m.list_id = r.list_id
    JOIN item_providers AS s ON s.group_id = m.group_id AND s.doc_id = r.doc_id
    WHERE r.rank <= $k
  ) AS parts
  GROUP BY group_id, provider
) AS added
