"""One folder a family: env.py, tasks.py or what its tasks come from, README.md."""
