-- IPrec: interpolated precision, the highest precision at this recall or any higher one.
--     IPrec = max over ranks r of hits down to r / r
-- Ranks are those of relevant documents with at least floor(recall * R + rounding) hits down to them, R the number of relevant documents.
-- Full name: interpolated precision.
-- Use when: you need the precision at a fixed recall, for example to draw a precision-recall curve of a ranking.
-- $recall: number from 0 to 1: the recall level, that of the first round(recall * R) relevant documents.
-- $rounding: number from 0 to 1, default 0.5: added before rounding down; trec_eval up to 9 adds 0.9.
-- Range: 0 to 1.
-- Undefined: a query without relevant documents.
-- Source: trec_eval iprec_at_recall.
SELECT
  list_id,
  MAX(
    CASE
      WHEN rank IS NOT NULL AND cumulative_hits >= FLOOR($recall * num_relevant + $rounding) THEN cumulative_hits / rank
      ELSE 0
    END
  ) AS iprec
FROM relevant_documents
GROUP BY list_id
