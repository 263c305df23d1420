"""``agentgym serve``: environments for other programs, over HTTP and WebSocket.

One server answers in three protocols: AgentGym's, OpenEnv's and MCP's.
"""
