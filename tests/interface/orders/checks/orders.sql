-- What can be wrong with one row of the orders.
SELECT
  COUNT(*) AS all_rows,
  COUNT(*) - COUNT(price) AS null_price, -- price is NULL. Leave the row out
  SUM(CASE WHEN price < 0 THEN 1 ELSE 0 END) AS negative_price, -- prices from 0: price is negative
  SUM(CASE WHEN pieces < 0 THEN 1 ELSE 0 END) AS negative_pieces -- pieces are negative
FROM orders
