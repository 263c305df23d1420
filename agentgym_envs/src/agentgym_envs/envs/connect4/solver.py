"""Perfect play: alpha-beta search with a transposition table.

The algorithm is that of Pascal Pons, "Solving Connect 4" (http://blog.gamesolver.org, 2015).
"""

from agentgym_envs.envs.connect4.board import BoardShape, GamePosition


class PerfectSolver:
    """Computes the value of positions under perfect play of both players.

    The value is from the view of the player to move: positive for a win, 0 for a draw, negative for
    a loss. Its size is 1 plus the number of stones that the winner has left at the end.
    Perfect play therefore wins as soon as possible and loses as late as possible.

    Args:
        board: The board of all positions.

    Attributes:
        nodes: Positions visited so far.
    """

    def __init__(self, board: BoardShape):
        self.board, self.nodes = board, 0
        middle = (board.columns - 1) / 2
        self._order = sorted(
            range(board.columns), key=lambda column: (abs(column - middle), column)
        )
        self._columns = [board.column(column) for column in self._order]
        self._bounds: dict[int, int] = {}  # transposition table: upper bounds of values

    def value(self, stones: GamePosition) -> int:
        """Returns the value of a position without a completed line."""
        left = self.board.cells - stones.mask.bit_count()
        if self.board.winning(stones):
            return (left + 1) // 2
        low, high, theirs = -(left // 2), (left - 1) // 2, self._threats(stones)
        while low < high:
            guess = (
                min((low + high) // 2, -1)
                if low + high < 0
                else max((low + high) // 2, 0)
                if low + high
                else 0
            )
            found = self._search(*stones, theirs, guess, guess + 1)
            low, high = (low, found) if found <= guess else (found, high)
        return low

    def best(self, stones: GamePosition) -> int:
        """Returns the column of a best move: the one nearest to the middle, the left one of two."""
        if now := self.board.winning(stones):
            return min(now, key=self._order.index)
        legal, value = self.board.legal(stones.mask), self.value(stones)
        moves = [column for column in self._order if column in legal]
        return next(
            column for column in moves if self._at_most(self.board.drop(stones, column), -value)
        )

    def moves_to_win(self, stones: GamePosition) -> int:
        """Returns the number of moves until the player to move wins; 0 without a forced win."""
        value = self.value(stones)
        left = self.board.cells - stones.mask.bit_count()
        return (left + 1) // 2 - value + 1 if value > 0 else 0

    def forget(self) -> None:
        """Clears the transposition table."""
        self._bounds.clear()

    def _at_most(self, stones: GamePosition, value: int) -> bool:
        """Returns whether the value of a position is at most ``value``."""
        if self.board.winning(stones):
            return (self.board.cells - stones.mask.bit_count() + 1) // 2 <= value
        return self._search(*stones, self._threats(stones), value, value + 1) <= value

    def _threats(self, stones: GamePosition) -> int:
        """Returns the cells that complete a line of the player who is not to move."""
        return self.board.wins(stones.mine ^ stones.mask, stones.mask)

    def _search(self, mine: int, mask: int, theirs: int, alpha: int, beta: int) -> int:
        """Returns the value, or a bound of it outside the window from ``alpha`` to ``beta``.

        The player to move must have no immediate win.
        ``theirs`` are the cells that complete a line of the other player.
        """
        self.nodes += 1
        left = self.board.cells - mask.bit_count()
        moves = self._safe(mask, theirs)
        if not moves:
            return -(left // 2)
        if left <= 2:
            return 0
        alpha = max(alpha, -((left - 2) // 2))
        if alpha >= beta:
            return alpha
        key = mine + mask  # no other position has the same sum
        beta = min(beta, self._bounds.get(key, (left - 1) // 2))
        if alpha >= beta:
            return beta
        for move, wins in self._ordered(mine, mask, moves):
            value = -self._search(mine ^ mask, mask | move, wins, -beta, -alpha)
            if value >= beta:
                return value
            alpha = max(alpha, value)
        self._bounds[key] = alpha
        return alpha

    def _safe(self, mask: int, theirs: int) -> int:
        """Returns the playable cells after which the other player cannot win at once."""
        possible = self.board.open(mask)
        if forced := possible & theirs:
            if forced & (forced - 1):
                return 0
            possible = forced
        return possible & ~(theirs >> 1)

    def _ordered(self, mine: int, mask: int, moves: int) -> list[tuple[int, int]]:
        """Returns the moves, each with the winning cells that it creates.

        Moves with the most winning cells come first, then moves near the middle.
        """
        single = [move for column in self._columns if (move := moves & column)]
        pairs = [(move, self.board.wins(mine | move, mask | move)) for move in single]
        return sorted(pairs, key=lambda pair: -pair[1].bit_count())
