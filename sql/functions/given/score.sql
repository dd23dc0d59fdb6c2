-- given: ties of scores do not count, ties of labels are neither right nor wrong: how well scores explain labels.
CREATE MACRO given(label_ties, score_ties) AS label_ties
