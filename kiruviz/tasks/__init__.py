"""Jobs: plain functions `f(progress, ...)` that join the rooms below; the window and the command line run the same ones."""
