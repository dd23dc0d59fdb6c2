"""The pieces, one by one: how metrics are written, files of metrics, inputs, checks, limits, the command line, connections, learning."""
