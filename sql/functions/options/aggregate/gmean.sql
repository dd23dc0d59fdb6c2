-- aggregate: geometric mean over queries, of values of at least $floor (trec_eval's gm_map).
-- $floor: number above 0, default 0.00001: the least value; lower ones count as this one.
CREATE MACRO aggregate(value, weight) AS EXP(AVG(LN(CASE WHEN value < $floor THEN $floor ELSE value END)))
