"""What runs on the far side of the wall, beside foreign code.

These modules are never imported there from disk: they are sent, compiled, through the control
socket to a bare interpreter. So they import the standard library and each other, and nothing
else, and no file of ours has to be visible inside.
"""
