"""Connect sqlrank with MLflow and ir_measures, each an optional dependency of a module of its
own.
"""
