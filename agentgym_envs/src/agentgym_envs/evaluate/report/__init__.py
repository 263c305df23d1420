"""The report of an evaluation: one HTML file that opens without a network, with every turn of every episode."""

from agentgym_envs.evaluate.report.data import JSON, Run
from agentgym_envs.evaluate.report.html import write_report

__all__ = ["JSON", "Run", "write_report"]
