-- qrels: one row per group, span of evidence and chunk that overlaps it: the grade of the span times the share of it that the chunk covers.
-- A span is the part of a source from span_start up to span_end, which is behind it. One that no chunk overlaps is a document of its own, which
-- no list can find: ids of chunks are not so far below 0. Integers stay integers if types are known, so that equal scores are ordered as
-- without spans. If only chunks has groups, every group has all spans.
-- Nonzero: gold_spans.span_end - gold_spans.span_start.
-- Grain: many per group_id, query_id
SELECT
  gold_spans.group_id, gold_spans.query_id,
  COALESCE(CAST(chunks.doc_id AS VARCHAR), CAST(-4611686018427387904 - gold_spans.span_number AS VARCHAR)) AS doc_id,
  CASE
    WHEN chunks.doc_id IS NULL THEN gold_spans.grade
    -- divided first, so that a span that is covered whole has its grade to the last bit
    ELSE gold_spans.grade * ((
      CASE WHEN chunks.span_end < gold_spans.span_end THEN chunks.span_end ELSE gold_spans.span_end END
      - CASE WHEN chunks.span_start > gold_spans.span_start THEN chunks.span_start ELSE gold_spans.span_start END
    ) / (gold_spans.span_end - gold_spans.span_start))
  END AS relevance,
  gold_spans.span_number AS subtopic
FROM (
  -- one row per group, query and span of evidence
  SELECT
    evidence.*,
    group_id,
    ROW_NUMBER() OVER (
      PARTITION BY group_id, evidence.query_id ORDER BY evidence.source, evidence.span_start, evidence.span_end
    ) AS span_number
  FROM evidence
  JOIN (
    -- one row per group of the chunks
    SELECT group_id, COUNT(*) AS num_chunks
    FROM chunks
    GROUP BY group_id
  ) AS grouped_chunks ON grouped_chunks.group_id = evidence.group_id
) AS gold_spans
LEFT JOIN chunks
  ON chunks.group_id = gold_spans.group_id
  AND chunks.source = gold_spans.source
  AND chunks.span_start < gold_spans.span_end
  AND chunks.span_end > gold_spans.span_start
