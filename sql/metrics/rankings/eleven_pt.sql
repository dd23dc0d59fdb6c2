-- 11pt: interpolated precision averaged over recall points, by default 0, 0.1, ..., 1.
--     11pt = mean over r of P(r)
-- P(r) is the greatest precision hits(i) / i at a rank i with at least floor(r relevant + rounding) hits.
-- Full name: eleven-point interpolated average precision.
-- Use when: you compare with older publications, or draw a precision-recall curve with few points. Otherwise prefer AP.
-- $points: numbers from 0 to 1, default [0,0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9,1]: the recalls; the metric is the mean over them.
-- $rounding: number from 0 to 1, default 0.5: added before rounding down; trec_eval up to 9 adds 0.9.
-- Range: 0 to 1.
-- Undefined: a query without relevant documents.
-- Source: trec_eval 11pt_avg.
SELECT
  list_id,
  MAX(
    CASE
      WHEN rank IS NOT NULL AND cumulative_hits >= FLOOR($points * num_relevant + $rounding) THEN cumulative_hits / rank
      ELSE 0
    END
  ) AS eleven_pt
FROM relevant_documents
GROUP BY list_id
