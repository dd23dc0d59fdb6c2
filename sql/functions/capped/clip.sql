-- capped: the ratio, at most $clip: a little bias for much less spread.
-- $clip: number above 0, default 10: the limit.
CREATE MACRO capped(ratio) AS CASE WHEN ratio > $clip THEN $clip ELSE ratio END
