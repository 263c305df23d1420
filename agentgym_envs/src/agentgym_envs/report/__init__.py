"""The report of an evaluation: one offline HTML file with every turn of every episode."""

from agentgym_envs.report.data import JSON, ReportRun, ReportSection
from agentgym_envs.report.html import write_report

__all__ = ["JSON", "ReportRun", "ReportSection", "write_report"]
