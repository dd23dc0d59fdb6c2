-- is_drawn: true if a unit is drawn at all in a replicate, a Poisson variable of mean 1 above 0, from a uniform number between 0 and 1.
-- Grain: one row
SELECT place >= 790015083 / 2147483647 AS is_drawn
