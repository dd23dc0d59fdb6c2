-- resampled_rows: one row per row of a table, which is replicate 0, and one per replicate and row that is drawn in it.
-- A row is drawn as often as its unit, by the place of the unit between 0 and 1, which moves by a step from replicate to replicate. Place and
-- step follow from a hash of the unit's name, so that results are equal on all engines, and any two replicates are independent.
-- A unit is not drawn if a Poisson variable of mean 1 is 0, with a probability of 1 / e (the least place, see draw_count).
-- For each: attribute
-- Source: Chamandy, Muralidharan, Najmi & Naidu 2012.
-- Grain: many per replicate
SELECT
  attribute,
  0 AS replicate,
  CAST($weight AS DOUBLE) AS weight,
  CAST(1 AS DOUBLE) AS times_drawn
FROM sampled_rows
UNION ALL
SELECT
  attribute, replicate,
  CAST(weight * draw_count(place_drawn) AS DOUBLE) AS weight,
  CAST(draw_count(place_drawn) AS DOUBLE) AS times_drawn
FROM (
  -- one row per replicate and row to resample, with the place of its unit between 0 and 1
  SELECT
    attribute, weight, replicate,
    unit_start + replicate * unit_step - FLOOR(unit_start + replicate * unit_step) AS place_drawn
  FROM (
    -- one row per row to resample, with the place of its unit in the first replicate, and its step to the next
    SELECT
      attribute, weight,
      (CAST('0x' || SUBSTR(unit_digest, 1, 8) AS BIGINT) % 2147483647 + 0.5) / 2147483647 AS unit_start,
      CAST(CAST('0x' || SUBSTR(unit_digest, 9, 8) AS BIGINT) % 2147483647 AS DOUBLE) / 2147483647 AS unit_step
    FROM (
      -- one row per row to resample, with a hash of its unit
      SELECT
        attribute,
        $weight AS weight,
        MD5($salt || CAST($unit AS TEXT)) AS unit_digest
      FROM sampled_rows
    ) AS unit_digests
  ) AS unit_positions
  CROSS JOIN bootstrap_replicates
) AS replicate_positions
WHERE place_drawn >= 790015083 / 2147483647
