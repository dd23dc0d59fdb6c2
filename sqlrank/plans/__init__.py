"""How things are computed: chosen once, from the question, the engine and cheap facts; never what they give."""
