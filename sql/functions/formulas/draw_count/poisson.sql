-- draw_count: how often a drawn unit occurs in a replicate, 1 to 12 times, by a uniform number between 0 and 1.
-- The number is a Poisson variable of mean 1, above 0.
-- The limits are integer multiples of 1 / (2^31 - 1), and the uniform numbers are midpoints between such multiples, so that rounding
-- moves none across a limit.
-- Source: Hanley & MacGibbon 2006; Chamandy, Muralidharan, Najmi & Naidu 2012.
CREATE MACRO draw_count(place) AS CASE
  WHEN place < 1580030167 / 2147483647 THEN 1
  WHEN place < 1975037709 / 2147483647 THEN 2
  WHEN place < 2106706890 / 2147483647 THEN 3
  WHEN place < 2139624185 / 2147483647 THEN 4
  WHEN place < 2146207644 / 2147483647 THEN 5
  WHEN place < 2147304887 / 2147483647 THEN 6
  WHEN place < 2147461637 / 2147483647 THEN 7
  WHEN place < 2147481230 / 2147483647 THEN 8
  WHEN place < 2147483407 / 2147483647 THEN 9
  WHEN place < 2147483625 / 2147483647 THEN 10
  WHEN place < 2147483645 / 2147483647 THEN 11
  ELSE 12
END
