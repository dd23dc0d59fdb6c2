-- Geometric mean over queries of the values, those below $floor taken as $floor (trec_eval's gm_map).
-- $floor: number above 0, default 0.00001: the least value that counts.
CREATE MACRO aggregate(value, weight) AS EXP(AVG(LN(CASE WHEN value < $floor THEN $floor ELSE value END)))
