-- The last rows of each key are test, by time; those of keys with no more rows than that are train.
SELECT
  g.*,
  CASE
    WHEN ROW_NUMBER() OVER (PARTITION BY g.key ORDER BY g.time DESC, g.item DESC) <= $last AND COUNT(*) OVER (PARTITION BY g.key) > $last
    THEN $second ELSE $first
  END AS split
FROM given AS g
