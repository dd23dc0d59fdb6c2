-- importance_weight: the importance weight, at most $clip: a small bias for a much smaller variance.
-- $clip: number above 0, default 10: greatest importance weight.
CREATE MACRO importance_weight(ratio) AS CASE WHEN ratio > $clip THEN $clip ELSE ratio END
