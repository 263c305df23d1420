"""A run from configuration to report: checks, then the run folder, then the work.

::

    RUN/config.toml        the resolved configuration
    RUN/init/              the small model, if model.path is "scratch"
    RUN/metrics.jsonl      one line per step
    RUN/failures.jsonl     one line per failure of an environment
    RUN/checkpoints/       see checkpoint.py
    RUN/evaluation.json    held-out success before, during and after, and of the baselines
    RUN/episodes/*/        held-out episodes, for `agentgym report RUN/episodes/*`
    RUN/learning_curve.png, RUN/trajectories.md
    RUN/model/             the trained model for transformers
    RUN/prepared.json      number of processes, and whether the files are checked

prepare.py checks a configuration and prepares the folder. folder.py reads and writes the folder,
and repair.py repairs damaged files. launch.py starts processes, and work.py is the work of each.
"""
