-- class_flip: the gain of an average over classes if the outcome of a row were the other one, from derivatives of the average.
-- A row that is right becomes a false alarm of another class: the one where it costs most.
-- The cost of a false alarm of its label, of its predicted class, and of the two classes where it costs most, are negative.
CREATE MACRO class_flip(is_right, hit_gain, label_cost, predicted_cost, greatest_cost, second_cost) AS
  CASE WHEN is_right THEN -1 ELSE 1 END * COALESCE(hit_gain, 0)
  + CASE WHEN is_right THEN 1 ELSE -1 END * COALESCE(
    CASE WHEN NOT is_right THEN predicted_cost WHEN label_cost = greatest_cost THEN second_cost ELSE greatest_cost END,
    0
  )
