"""The documentation site: inputs of MkDocs next to docs/*.md. Pages of metrics are made from their
files when the site is built.
"""
