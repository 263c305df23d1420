"""A driver that loses its only host: ``cable_driver.py ADDRESS``. It writes what it sees."""

import sys

from agentgym_envs.pool import EnvPool, hosts


def say(text):
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def answer(pool):
    while not (results := pool.recv()):
        pass
    return results[0]


def main(address):
    hosts.PAUSES, hosts.PING_AFTER, hosts.PONG_WITHIN = (0.1, 0.5), 1.0, 2.0
    hosts.greeting.CONNECT_TIMEOUT = 2.0
    options = {"hosts": [address], "token": "secret", "delay": 3}
    with EnvPool("faulty_envs:support/Slow-v0", 1, **options) as pool:
        pool.reset(0, seed=1)
        answer(pool)
        pool.send(0, "slow")  # its answer is on the way when the cable is pulled
        say("ready")
        say(type(answer(pool).error).__name__)
        pool.reset(0, seed=7)
        found = answer(pool)
        say(found.error or found.observation)


if __name__ == "__main__":
    main(sys.argv[1])
