"""Perfect play: alpha-beta with a transposition table, after Pascal Pons, "Solving Connect 4"."""

from agentgym_envs.envs.connect4.board import Board, Stones


class Solver:
    """Knows how each position ends when both play their best: who wins wins soon, who loses loses late.

    The value of a position for who is to move is positive for a win, 0 for a draw, negative for a loss; it is larger by one for
    each stone of the winner's that is left over.

    Args:
        board: played on.

    Attributes:
        nodes: positions looked at so far.
    """

    def __init__(self, board: Board):
        self.board, self.nodes = board, 0
        middle = (board.columns - 1) / 2
        self._order = sorted(range(board.columns), key=lambda column: (abs(column - middle), column))
        self._columns = [board.column(column) for column in self._order]
        self._most: dict[int, int] = {}  # the value of a position, of whoever is to move, is at most this

    def value(self, stones: Stones) -> int:
        """Returns the value of a position in which neither side has won."""
        left = self.board.cells - stones.mask.bit_count()
        if self.board.winning(stones):
            return (left + 1) // 2
        low, high, theirs = -(left // 2), (left - 1) // 2, self._threats(stones)
        while low < high:
            guess = min((low + high) // 2, -1) if low + high < 0 else max((low + high) // 2, 0) if low + high else 0
            found = self._search(*stones, theirs, guess, guess + 1)
            low, high = (low, found) if found <= guess else (found, high)
        return low

    def best(self, stones: Stones) -> int:
        """Returns the column of a best move: the one nearest to the middle, of two such the left one."""
        if now := self.board.winning(stones):
            return min(now, key=self._order.index)
        legal, value = self.board.legal(stones.mask), self.value(stones)
        moves = [column for column in self._order if column in legal]
        return next(column for column in moves if self._at_most(self.board.drop(stones, column), -value))

    def moves_to_win(self, stones: Stones) -> int:
        """Returns with which of its own moves the one who is to move wins; 0 if the other can prevent it."""
        value = self.value(stones)
        left = self.board.cells - stones.mask.bit_count()
        return (left + 1) // 2 - value + 1 if value > 0 else 0

    def forget(self) -> None:
        """Gives the memory back."""
        self._most.clear()

    def _at_most(self, stones: Stones, value: int) -> bool:
        """Says whether the value of a position is at most this."""
        if self.board.winning(stones):
            return (self.board.cells - stones.mask.bit_count() + 1) // 2 <= value
        return self._search(*stones, self._threats(stones), value, value + 1) <= value

    def _threats(self, stones: Stones) -> int:
        """Returns the cells in which the one who is not to move could win."""
        return self.board.wins(stones.mine ^ stones.mask, stones.mask)

    def _search(self, mine: int, mask: int, theirs: int, alpha: int, beta: int) -> int:
        """Returns the value, or a bound of it beyond ``alpha`` or ``beta``; who is to move cannot win at once.

        ``theirs`` are the cells in which the other could win.
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
        beta = min(beta, self._most.get(key, (left - 1) // 2))
        if alpha >= beta:
            return beta
        for move, wins in self._ordered(mine, mask, moves):
            value = -self._search(mine ^ mask, mask | move, wins, -beta, -alpha)
            if value >= beta:
                return value
            alpha = max(alpha, value)
        self._most[key] = alpha
        return alpha

    def _safe(self, mask: int, theirs: int) -> int:
        """Returns the cells that can be dropped into without losing to the other's next stone."""
        possible = self.board.open(mask)
        if forced := possible & theirs:
            if forced & (forced - 1):
                return 0
            possible = forced
        return possible & ~(theirs >> 1)

    def _ordered(self, mine: int, mask: int, moves: int) -> list[tuple[int, int]]:
        """Returns moves with the cells to win in that they leave: the most such cells first, then the middle."""
        single = [move for column in self._columns if (move := moves & column)]
        pairs = [(move, self.board.wins(mine | move, mask | move)) for move in single]
        return sorted(pairs, key=lambda pair: -pair[1].bit_count())
