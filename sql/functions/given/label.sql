-- given: ties of labels do not count, ties of scores are neither right nor wrong: how well labels explain scores.
CREATE MACRO given(label_ties, score_ties) AS score_ties
