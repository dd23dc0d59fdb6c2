"""The documentation site: what MkDocs is given beside docs/*.md. Pages of metrics are made from their files when the site is built."""
