-- qrels: one row per group, span of evidence and chunk that overlaps it: the grade of the span times the share of it that the chunk covers.
-- A span is the part of a source from span_start up to span_end, which is behind it. One that no chunk overlaps is a document of its own, which
-- no list can find: its id is no whole number, which ids of chunks are if they are numbers. If only chunks has groups, every group has all spans.
-- Nonzero: spans.span_end - spans.span_start.
-- Grain: many per group_id, query_id
SELECT
  spans.group_id,
  spans.query_id,
  CAST(chunks.doc_id AS VARCHAR) AS doc_id,
  spans.grade * (
    CASE WHEN chunks.span_end < spans.span_end THEN chunks.span_end ELSE spans.span_end END
    - CASE WHEN chunks.span_start > spans.span_start THEN chunks.span_start ELSE spans.span_start END
  ) / (spans.span_end - spans.span_start) AS relevance,
  spans.span_number AS subtopic
FROM (
  -- one row per group, query and span of evidence
  SELECT
    group_id,
    evidence.query_id,
    evidence.source,
    evidence.span_start,
    evidence.span_end,
    evidence.grade,
    ROW_NUMBER() OVER (
      PARTITION BY group_id, evidence.query_id ORDER BY evidence.source, evidence.span_start, evidence.span_end
    ) AS span_number
  FROM evidence
  JOIN (
    -- one row per group of the chunks
    SELECT group_id, COUNT(*) AS num_chunks
    FROM chunks
    GROUP BY group_id
  ) AS chunk_groups ON chunk_groups.group_id = evidence.group_id
) AS spans
JOIN chunks
  ON chunks.group_id = spans.group_id
  AND chunks.source = spans.source
  AND chunks.span_start < spans.span_end
  AND chunks.span_end > spans.span_start
UNION ALL
SELECT
  spans.group_id,
  spans.query_id,
  CAST(-0.5 - spans.span_number AS VARCHAR) AS doc_id,
  spans.grade AS relevance,
  spans.span_number AS subtopic
FROM (
  -- one row per group, query and span of evidence
  SELECT
    group_id,
    evidence.query_id,
    evidence.source,
    evidence.span_start,
    evidence.span_end,
    evidence.grade,
    ROW_NUMBER() OVER (
      PARTITION BY group_id, evidence.query_id ORDER BY evidence.source, evidence.span_start, evidence.span_end
    ) AS span_number
  FROM evidence
  JOIN (
    -- one row per group of the chunks
    SELECT group_id, COUNT(*) AS num_chunks
    FROM chunks
    GROUP BY group_id
  ) AS chunk_groups ON chunk_groups.group_id = evidence.group_id
) AS spans
LEFT JOIN (
  -- one row per group, query and span that a chunk overlaps
  SELECT spans.group_id, spans.query_id, spans.span_number, COUNT(*) AS num_chunks
  FROM (
    -- one row per group, query and span of evidence
    SELECT
      group_id,
      evidence.query_id,
      evidence.source,
      evidence.span_start,
      evidence.span_end,
      evidence.grade,
      ROW_NUMBER() OVER (
        PARTITION BY group_id, evidence.query_id ORDER BY evidence.source, evidence.span_start, evidence.span_end
      ) AS span_number
    FROM evidence
    JOIN (
      -- one row per group of the chunks
      SELECT group_id, COUNT(*) AS num_chunks
      FROM chunks
      GROUP BY group_id
    ) AS chunk_groups ON chunk_groups.group_id = evidence.group_id
  ) AS spans
  JOIN chunks
    ON chunks.group_id = spans.group_id
    AND chunks.source = spans.source
    AND chunks.span_start < spans.span_end
    AND chunks.span_end > spans.span_start
  GROUP BY spans.group_id, spans.query_id, spans.span_number
) AS covered_spans
  ON covered_spans.group_id = spans.group_id
  AND covered_spans.query_id = spans.query_id
  AND covered_spans.span_number = spans.span_number
WHERE covered_spans.num_chunks IS NULL
