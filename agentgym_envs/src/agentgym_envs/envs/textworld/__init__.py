"""TextWorld: generated text adventures."""
