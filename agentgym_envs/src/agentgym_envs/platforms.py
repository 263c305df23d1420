"""The operating systems that AgentGym runs on."""

from agentgym_envs.errors import UnsupportedPlatform

SUPPORTED = {"linux": "Linux", "darwin": "macOS"}  # values of sys.platform


def check_platform(platform: str) -> None:
    """Raises UnsupportedPlatform unless ``platform``, a value of ``sys.platform``, is supported."""
    if platform not in SUPPORTED:
        names = " and ".join(SUPPORTED.values())
        raise UnsupportedPlatform(
            f"AgentGym runs on {names}, not on {platform!r}. On Windows, use WSL 2."
        )
