"""Step 6: run one cell. Whoever runs a model does not know how it is graded."""
