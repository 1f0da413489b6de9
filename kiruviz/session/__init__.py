"""What the person decided: labels, undo, and the `.kiru` file that keeps them. No Qt, no torch.

`labels` holds the words (Cluster, LabelSet), `edits` the pure label operations, `store` the Session that
performs and keeps them, `recover` the untitled sessions a crash left behind.
"""
