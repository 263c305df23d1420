"""A breadth-first search over the states of a maze, for tests of the mazes' oracles.

A state ends with whether the thing is taken. ``replies(maze, state)`` of a test yields the actions
that change a state, each with the next state.
"""

STEPS = {"north": (0, 1), "east": (1, 0), "south": (0, -1), "west": (-1, 0)}


def beside(room, direction):
    """The next room in a direction."""
    return room[0] + STEPS[direction][0], room[1] + STEPS[direction][1]


def distances(replies, maze, start):
    """Steps from a state to every reachable state."""
    found, queue = {start: 0}, [start]
    for state in queue:
        for _, following in replies(maze, state):
            if following not in found:
                found[following] = found[state] + 1
                queue.append(following)
    return found


def shortest(replies, maze, state):
    """Fewest steps from a state to one in which the thing is taken."""
    found = distances(replies, maze, state)
    return min(steps for (*_, taken), steps in found.items() if taken)
