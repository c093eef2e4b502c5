# A small server: no compiler, no package manager of Python in use, not root, nothing written outside /data and /tmp.
#   docker build -t polymnia .
#   docker run --rm -v polymnia:/data polymnia keys add NAME
#   docker run --rm -v polymnia:/data --read-only --tmpfs /tmp --cap-drop ALL -p 127.0.0.1:9080:9080 polymnia
FROM python:3.13-slim-bookworm AS build
WORKDIR /source
COPY pyproject.toml README.md LICENSE NOTICE ./
COPY src src
RUN python -m venv /polymnia \
 && /polymnia/bin/pip install --no-cache-dir '.[oauth,postgres]' \
 && /polymnia/bin/pip uninstall --yes pip \
 && find /polymnia -name tests -type d -prune -exec rm -rf {} +

FROM python:3.13-slim-bookworm
LABEL org.opencontainers.image.title="Polymnia" \
      org.opencontainers.image.description="One memory for AI agents, spoken in every dialect they already know." \
      org.opencontainers.image.source="https://github.com/polymnia/polymnia" \
      org.opencontainers.image.licenses="MIT" \
      io.modelcontextprotocol.server.name="io.github.polymnia/polymnia"
# The id is a number, so that an orchestrator can see that it is not root.
RUN groupadd --gid 10001 polymnia \
 && useradd --uid 10001 --gid 10001 --no-create-home --home-dir /data polymnia \
 && install --directory --owner 10001 --group 10001 --mode 0700 /data
COPY --from=build /polymnia /polymnia
ENV PATH=/polymnia/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    POLYMNIA_STORE=/data/memory.db \
    POLYMNIA_KEYS=/data/keys.json \
    POLYMNIA_HOST=0.0.0.0
VOLUME /data
WORKDIR /data
USER 10001:10001
EXPOSE 9080
HEALTHCHECK --interval=10s --timeout=5s --start-period=20s \
  CMD ["python", "-c", "from urllib.request import urlopen; urlopen('http://127.0.0.1:9080/healthz', timeout=3)"]
ENTRYPOINT ["polymnia"]
CMD ["serve"]
