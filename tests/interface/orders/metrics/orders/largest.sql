-- LargestBasket: what the dearest order costs.
-- Undefined: no orders.
-- Source: this test.
SELECT
  group_id,
  MAX(cost) AS largest
FROM baskets
GROUP BY group_id
