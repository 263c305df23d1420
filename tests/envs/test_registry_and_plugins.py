import subprocess
import sys
import textwrap

import gymnasium
import pytest

import agentgym_envs
from agentgym_envs import errors, plugins, registry


def dist(folder, name, entry_points):
    """Writes the metadata of an installed distribution."""
    info = folder / f"{name.replace('-', '_')}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(textwrap.dedent(entry_points))


@pytest.fixture
def site(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    plugins.discover.cache_clear()
    yield tmp_path
    plugins.discover.cache_clear()


def test_the_package_is_the_installed_one():
    assert agentgym_envs.__file__ is not None


def test_the_table_and_the_entry_points_say_the_same():
    ours = {n: p.value for n, p in plugins.discover(plugins.ENVIRONMENTS).items() if plugins.distribution(p) == "agentgym-envs"}
    assert ours == {env_id: row.target for env_id, row in registry.BUILTIN.items()}
    for env_id, row in registry.BUILTIN.items():
        assert gymnasium.spec(env_id).max_episode_steps == row.horizon


def test_an_unknown_id_names_the_nearest():
    with pytest.raises(errors.UnknownName, match="Did you mean 'agentgym/TextCraft-v1'"):
        registry.spec("agentgym/TextCraf-v0")
    with pytest.raises(errors.UnknownName, match="no_such_module"):
        registry.spec("no_such_module:agentgym/Maze-v0")


def test_two_distributions_with_one_name_are_both_named(site):
    for name in ("acme-one", "acme-two"):
        dist(site, name, f"[{plugins.ENVIRONMENTS}]\nacme/Guess-v0 = {name.replace('-', '_')}:Env\n")
    with pytest.raises(errors.DuplicateName, match=r"acme-(one|two) and acme-(one|two)"):
        plugins.discover(plugins.ENVIRONMENTS)


def test_a_broken_plugin_is_listed_and_fails_when_used(site):
    (site / "acme_broken.py").write_text("raise ZeroDivisionError('at import')")
    dist(site, "acme-broken", f"[{plugins.ENVIRONMENTS}]\nacme/Broken-v0 = acme_broken:Env\n")
    assert "acme/Broken-v0" in plugins.discover(plugins.ENVIRONMENTS)
    with pytest.raises(errors.BrokenPlugin, match=r"acme-broken.*ZeroDivisionError"):
        plugins.load(plugins.ENVIRONMENTS, "acme/Broken-v0")
    with pytest.raises(errors.UnknownName, match="Did you mean 'acme/Broken-v0'"):
        plugins.load(plugins.ENVIRONMENTS, "acme/Brokn-v0")


def test_a_missing_extra_is_the_pip_command(monkeypatch):
    monkeypatch.setattr("agentgym_envs.envs.textworld.env.find_spec", lambda name: None)
    with pytest.raises(errors.MissingExtra, match=r'python -m pip install "agentgym-envs\[textworld\]"'):
        gymnasium.make("agentgym/TWSimple-v0")


def test_importing_is_light():
    code = """
        import sys, time
        import gymnasium, numpy
        start = time.process_time()  # what other processes use does not count
        import agentgym_envs
        seconds = time.process_time() - start
        heavy = {"torch", "textworld", "jericho", "transformers", "deepspeed", "typer", "rich"} & set(sys.modules)
        families = [m for m in sys.modules if m.startswith("agentgym_envs.envs.")]
        print(seconds, sorted(heavy), families)
        """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=True)
    seconds, rest = done.stdout.split(" ", 1)
    assert rest.strip() == "[] []"
    assert float(seconds) < 0.5
