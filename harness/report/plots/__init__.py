"""The pictures: plain numbers in, SVG out. The only home of matplotlib; nothing is computed here.

Every picture answers one question, which the page prints as its caption. Models stand on rows, in
the order of the ranking, so that the eye finds the same model at the same height everywhere.
"""
