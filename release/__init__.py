"""Make a release: set the version, check the changelog, build the files reproducibly, check them,
and write an SBOM and notes.
"""
