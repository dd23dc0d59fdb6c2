-- rest: what stands below, as what stands neither above nor here: exact where all weigh 1, and it saves a sort.
CREATE MACRO rest(total, above, here, below) AS total - above - here
