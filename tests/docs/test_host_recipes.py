"""The recipes that start hosts of environments. No cluster is here to run them."""

import os
import re
import shlex
import stat
import subprocess
import sys
from pathlib import Path

import pytest
import typer
import yaml

from agentgym_envs import cli
from agentgym_envs.pool.greeting import TOKEN, parse_address
from agentgym_train import cli as train_cli
from agentgym_train.config.tables import read

PAGE = (Path(__file__).parents[2] / "docs/guides/environment_hosts.md").read_text()
PROGRAMS = {"agentgym": cli.app, "agentgym-train": train_cli.app}
# `srun` runs the command on the one node that `scontrol` lists.
SUBSTITUTES = {"srun": 'exec "$@"', "scontrol": "echo 127.0.0.1"}


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.M | re.S)


def options(program, name, *arguments):
    """Returns the values of a command's options; an unknown option raises."""
    command = typer.main.get_command(PROGRAMS[program]).commands[name]
    return command.make_context(name, list(arguments)).params


@pytest.fixture(scope="module")
def objects():
    return {each["kind"]: each for text in blocks("yaml") for each in yaml.safe_load_all(text)}


def container(made):
    return made["spec"]["template"]["spec"]["containers"][0]


def test_the_hosts_of_kubernetes_have_the_ports_labels_and_token_that_they_need(objects):
    service, hosts = objects["Service"], objects["StatefulSet"]
    given = options(*container(hosts)["command"])
    assert (given["pool"], given["address"]) == (True, "0.0.0.0")
    assert given["port"] == service["spec"]["ports"][0]["port"]
    assert given["port"] == container(hosts)["readinessProbe"]["tcpSocket"]["port"]
    assert given["port"] == container(hosts)["ports"][0]["containerPort"]
    assert service["spec"]["clusterIP"] == "None"
    labels = hosts["spec"]["template"]["metadata"]["labels"]
    assert service["spec"]["selector"] == hosts["spec"]["selector"]["matchLabels"] == labels
    (secret,) = [text for text in blocks("bash") if "\nkubectl create secret" in text]
    for made in (hosts, objects["Job"]):
        (variable,) = container(made)["env"]
        assert variable["name"] == TOKEN
        source = variable["valueFrom"]["secretKeyRef"]
        assert f"secret generic {source['name']} --from-literal={source['key']}=" in secret


def test_the_evaluation_on_kubernetes_names_the_hosts(objects):
    hosts = objects["StatefulSet"]
    given = options(*container(objects["Job"])["command"])
    service, port = hosts["spec"]["serviceName"], options(*container(hosts)["command"])["port"]
    assert service == objects["Service"]["metadata"]["name"]
    assert [parse_address(address) for address in given["hosts"].split(",")] == [
        (f"{hosts['metadata']['name']}-{i}.{service}", port)
        for i in range(hosts["spec"]["replicas"])
    ]


def run(script, folder):
    """Runs a script with the substitutes and with the commands of this Python."""
    for name, line in SUBSTITUTES.items():
        (folder / name).write_text(f"#!/bin/sh\n{line}\n")
        (folder / name).chmod(stat.S_IRWXU)
    path = os.pathsep.join([str(folder), str(Path(sys.executable).parent), os.environ["PATH"]])
    variables = {"PATH": path, "SLURM_JOB_ID": str(os.getpid()), "SLURM_JOB_NODELIST": "node[1-4]"}
    return subprocess.run(
        ["bash", "-c", script],
        env=os.environ | variables,
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


@pytest.mark.full
def test_the_script_of_slurm_evaluates_on_its_hosts(tmp_path):
    (script,) = [text for text in blocks("bash") if "#SBATCH" in text]
    command = shlex.split(script[script.index("\nagentgym eval") :].replace("\\\n", ""))
    assert options(*command)["hosts"].startswith("$(paste")
    quick = script.replace("--model my-model --base-url http://model:8000/v1", "--agent oracle")
    quick = quick.replace("TextCraft-v2", "Maze-v1 --episodes 2")
    assert quick.count("--agent oracle") == 1
    done = run(quick, tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    (addresses,) = tmp_path.glob("hosts-*.txt")
    assert addresses.read_text() == f"127.0.0.1:{20000 + os.getpid() % 10000}\n"
    assert list((tmp_path / "results").rglob("*.jsonl*")), "there are episodes"


def test_the_training_run_of_slurm_has_the_addresses(tmp_path):
    (text,) = [text for text in blocks("bash") if text.startswith("agentgym-train")]
    (tmp_path / "a.txt").write_text("node1:9000\nnode2:9000\n")
    (tmp_path / "run.toml").write_text("")
    shell = f"addresses=a.txt; agentgym-train() {{ printf '%s\\n' \"$@\"; }}; {text}"
    done = run(shell, tmp_path)
    given = options("agentgym-train", *done.stdout.splitlines())
    table = read(tmp_path / "run.toml", given["set_"])
    assert table["env"] == {"workers": 16, "hosts": ["node1:9000", "node2:9000"]}
