"""The Builder, which every frontend makes graph modules with."""
