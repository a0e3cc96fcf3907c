"""Cost models: estimated times of thread blocks, of loop nests, and of data that threads hand over.

Several stages ask them, and they know of the schedule stage what a statement and its axes are.
"""
