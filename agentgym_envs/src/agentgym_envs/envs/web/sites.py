"""The old place of the web sites; importing it, or a module below it, names the new one."""

raise ImportError(
    "agentgym_envs.envs.web.sites is now agentgym_websites: write"
    ' agentgym_websites.env:WebSitesEnv, and run: python -m pip install "agentgym-envs[web]"'
)
