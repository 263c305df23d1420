"""The report of an evaluation: one HTML file that opens without a network, with every turn of every episode."""

from agentgym_envs.evaluate.report.data import JSON, Run, Section
from agentgym_envs.evaluate.report.folders import expanded, named
from agentgym_envs.evaluate.report.html import write_report

__all__ = ["JSON", "Run", "Section", "expanded", "named", "write_report"]
