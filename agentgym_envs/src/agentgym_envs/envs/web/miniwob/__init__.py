"""MiniWoB++: 125 small pages, one instruction each."""
