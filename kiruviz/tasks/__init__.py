"""Jobs: plain functions `f(progress, ...)` that join the rooms below, the same for the window and the command line."""
