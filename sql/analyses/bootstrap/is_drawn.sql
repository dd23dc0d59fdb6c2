-- is_drawn: one row: true if a unit is drawn at all in a replicate, by a uniform number between 0 and 1.
-- A Poisson variable of mean 1 is above 0.
-- Grain: one row
SELECT place >= 790015083 / 2147483647 AS is_drawn
