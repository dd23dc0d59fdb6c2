-- bends: one row per group and cut-off from 1 to k: by how much recall, added up over lists, is ahead of a straight line from the first
-- cut-off to the last, as a share of the way that it goes from the one to the other; place 1 is where it is the most, the first of several.
-- Differences are compared to nine decimals, since sums of the same numbers in another order differ in their last digits.
-- $k: integer from 3 to 10000: the last cut-off.
-- Never zero: $k - 1.
SELECT
  group_id,
  cutoff,
  height,
  ROW_NUMBER() OVER (PARTITION BY group_id ORDER BY height DESC, cutoff) AS place
FROM (
  SELECT
    group_id,
    cutoff,
    COALESCE(FLOOR((
      (found - first_found) / NULLIF(last_found - first_found, 0) - (cutoff - 1) / ($k - 1)
    ) * 1000000000 + 0.5), 0) AS height
  FROM (
    SELECT
      group_id,
      cutoff,
      found,
      MIN(found) OVER (PARTITION BY group_id) AS first_found,
      MAX(found) OVER (PARTITION BY group_id) AS last_found
    FROM (
      SELECT
        g.group_id,
        n.cutoff,
        SUM(COALESCE(h.found, 0)) OVER (PARTITION BY g.group_id ORDER BY n.cutoff ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS found
      FROM (SELECT group_id, COUNT(*) AS all_lists FROM members GROUP BY group_id) AS g
      CROSS JOIN (SELECT CAST(number AS INT) AS cutoff FROM numbers WHERE number <= $k) AS n
      LEFT JOIN (
        SELECT
          m.group_id,
          CAST(r.rank AS INT) AS cutoff,
          SUM(r.portion) AS found
        FROM (
          SELECT
            list_id,
            rank,
            docs / NULLIF(SUM(docs) OVER (PARTITION BY list_id), 0) AS portion
          FROM relevant
        ) AS r
        JOIN members AS m ON m.list_id = r.list_id
        WHERE r.rank <= $k
        GROUP BY m.group_id, r.rank
      ) AS h ON h.group_id = g.group_id AND h.cutoff = n.cutoff
    ) AS running
  ) AS beside
) AS apart
