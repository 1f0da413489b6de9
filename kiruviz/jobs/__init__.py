"""QThread workers and the helper processes they drive."""
