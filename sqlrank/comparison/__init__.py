"""Compare systems and gate releases by paired differences of unit values."""
