"""Records of all that users can see of a tree, as texts, which show that a change of the code
changes none of it.
"""
