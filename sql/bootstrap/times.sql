-- How often a unit is drawn in a replicate: a Poisson variable of mean 1, from a number below 2^31 - 1 that is drawn alike.
-- Source: Hanley & MacGibbon 2006; Chamandy, Muralidharan, Najmi & Naidu 2012.
SELECT CASE
  WHEN draw < 790015083 THEN 0
  WHEN draw < 1580030167 THEN 1
  WHEN draw < 1975037709 THEN 2
  WHEN draw < 2106706890 THEN 3
  WHEN draw < 2139624185 THEN 4
  WHEN draw < 2146207644 THEN 5
  WHEN draw < 2147304887 THEN 6
  WHEN draw < 2147461637 THEN 7
  WHEN draw < 2147481230 THEN 8
  WHEN draw < 2147483407 THEN 9
  WHEN draw < 2147483625 THEN 10
  WHEN draw < 2147483645 THEN 11
  ELSE 12
END AS times
