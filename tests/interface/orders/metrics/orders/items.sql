-- ItemsPerOrder: how many different items an order has, on the mean over orders.
-- Undefined: no orders.
-- Source: this test.
SELECT
  list_id,
  COUNT(*) AS items
FROM orders
GROUP BY list_id
