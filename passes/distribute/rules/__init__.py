"""Rules: in which states an operator can read its operands and make its result, from its statements alone."""
