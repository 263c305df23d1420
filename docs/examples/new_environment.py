"""A lock whose dials must show a code."""

from agentgym_envs import Outcome, Task, TaskSet, TextEnv
from agentgym_envs.tasks import split_of


class DialsEnv(TextEnv):
    """Turns dials to a code. At the start they are up to ``reach`` off."""

    instructions = "Set the dials to the code. 'up 1' turns dial 1 from 3 to 4."

    def __init__(self, *, reach=3, **kwargs):
        self.reach = reach
        super().__init__(**kwargs)

    def make_tasks(self):
        codes = [str(number) for number in range(10, 1000, 3)]
        return TaskSet(
            Task(
                id=f"code-{code}",
                split=split_of(code),
                difficulty=len(code),
                data={"code": code},
            )
            for code in codes
        )

    def begin(self, task, rng):
        self.code = [int(digit) for digit in task.data["code"]]
        self.dials = [(n + rng.randint(1, self.reach)) % 10 for n in self.code]
        return f"Code: {task.data['code']}. {self.shown()}", "set the code"

    def act(self, action):
        valid = action in self.actions()
        if valid:
            way, number = action.split()
            n, step = int(number) - 1, {"up": 1, "down": -1}[way]
            self.dials[n] = (self.dials[n] + step) % 10
        right = [n == m for n, m in zip(self.dials, self.code, strict=True)]
        return Outcome(
            self.shown() if valid else "Say 'up' or 'down' and a dial.",
            score=sum(right) / len(right),
            done=all(right),
            success=all(right),
            invalid=not valid,
            extra={"right_dials": sum(right)},
        )

    def actions(self):
        numbers = range(1, len(self.dials) + 1)
        return [f"{way} {n}" for n in numbers for way in ("up", "down")]

    def oracle(self):
        for n, wanted in enumerate(self.code):
            while off := (self.dials[n] - wanted) % 10:
                yield f"{'down' if off < 6 else 'up'} {n + 1}"

    def shown(self):
        return f"Dials: {' '.join(map(str, self.dials))}."
