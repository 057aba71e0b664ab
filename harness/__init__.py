# One module imports only from the left of itself; modules of one step are independent.
#
#   errors clock  <  records  <  arnes suite  <  protocol parsing sandbox stats
#     <  grading world  <  signature models backends store  <  running  <  stages
#     <  campaign  <  report  <  instruments  <  cli
#
# tests/test_architecture.py walks the imports and holds this order.
"""arnes: an instrument that ranks local language models and says how sure it is."""

__version__ = "3.0.1"
