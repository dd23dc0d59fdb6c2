-- baskets: one row per order with what it costs.
SELECT
  group_id,
  list_id,
  SUM(price * pieces) AS cost
FROM orders
GROUP BY group_id, list_id
