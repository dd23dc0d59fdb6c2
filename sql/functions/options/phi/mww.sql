-- phi: the relative rank itself, as in the statistic of Mann, Whitney and Wilcoxon.
CREATE MACRO phi(relative_rank) AS relative_rank
