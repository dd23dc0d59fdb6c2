-- provider_exposure: one row per group and provider of a catalog item: shares of the exposure of lists, and of the items in the catalog.
-- $k: integer from 1, default all: cut-off, the number of top-ranked documents of a list that count.
-- discount(): default log2: exposure of a document at a rank.
-- Grain: group_id, provider
SELECT
  group_id, provider,
  exposure / NULLIF(SUM(exposure) OVER (PARTITION BY group_id), 0) AS exposure_share, -- of the discounted first k ranks of all lists
  num_items / NULLIF(SUM(num_items) OVER (PARTITION BY group_id), 0) AS catalog_share -- of the items in the catalog
FROM (
  -- one row per group and provider
  SELECT
    group_id, provider,
    SUM(exposure) AS exposure,
    SUM(num_items) AS num_items
  FROM (
    -- one row per group and provider, and one per recommended item
    SELECT
      group_list_counts.group_id, provider_catalogs.provider,
      0 AS exposure,
      provider_catalogs.num_items
    FROM group_list_counts
    JOIN (
      -- one row per group and provider
      SELECT
        group_id, provider,
        COUNT(*) AS num_items
      FROM item_providers
      GROUP BY group_id, provider
    ) AS provider_catalogs ON provider_catalogs.group_id = group_list_counts.group_id
    UNION ALL
    SELECT
      list_groups.group_id, item_providers.provider,
      discount(ranked_documents.rank) AS exposure,
      0 AS num_items
    FROM ranked_documents
    JOIN list_groups ON list_groups.list_id = ranked_documents.list_id
    JOIN item_providers
      ON item_providers.group_id = list_groups.group_id AND item_providers.doc_id = ranked_documents.doc_id
    WHERE ranked_documents.rank <= $k
  ) AS provider_terms
  GROUP BY group_id, provider
) AS provider_sums
