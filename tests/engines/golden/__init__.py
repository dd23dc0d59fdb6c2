"""Printed statements, as whole texts."""
