-- pinball_loss: loss of a predicted quantile: its level times how far the label is above, or 1 less the level times how far below.
CREATE MACRO pinball_loss(label, score, quantile_level) AS
  CASE WHEN label >= score THEN quantile_level * (label - score) ELSE (1 - quantile_level) * (score - label) END
