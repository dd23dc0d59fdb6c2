-- Revenue: what all orders cost.
-- Requires: prices from 0.
-- Undefined: never.
-- Source: this test.
SELECT
  group_id,
  SUM(price * pieces) AS revenue
FROM orders
GROUP BY group_id
