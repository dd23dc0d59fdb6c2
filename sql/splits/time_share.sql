-- Each row by the share of rows that are at most as late; those of one time stay together.
SELECT g.*, COUNT(*) OVER (ORDER BY g.time) / COUNT(*) OVER () AS split
FROM given AS g
