"""Plays many episodes of the environment Faulty-v0 although hosts and workers fail."""


class Players:
    """Plays episodes to their end; starts those again that a failure ended.

    The results are checked against the requests: one for each, with the right seed and turn.
    """

    def __init__(self, pool, episodes, length):
        self.pool, self.left, self.length = pool, [*range(episodes)], length
        self.done, self.errors = [], []
        self.seed, self.turn = {}, {}

    def begin(self, index):
        if self.left:
            self.seed[index], self.turn[index] = self.left.pop(), 0
            self.pool.reset(index, seed=self.seed[index])

    def take(self, result):
        index = result.index
        assert index in self.seed, "a result that nobody asked for"
        if result.error:
            self.errors.append(type(result.error))
            self.left.append(self.seed.pop(index))
            self.begin(index)
            return
        turn = self.turn[index]
        assert result.observation == (f"turn {turn}" if turn else f"seed {self.seed[index]}")
        assert result.reward == float(turn == self.length)
        if result.terminated:
            self.done.append(self.seed.pop(index))
            self.begin(index)
        else:
            self.turn[index] += 1
            self.pool.send(index, "ok")

    def play(self, disturb):
        for index in range(self.pool.num_envs):
            self.begin(index)
        while self.pool.outstanding:
            disturb()
            assert self.pool.outstanding == len(self.seed), "one request per environment"
            for result in self.pool.recv():
                self.take(result)
