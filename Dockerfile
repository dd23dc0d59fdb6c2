# docker build -t sqlrank . && docker run --rm -v "$PWD:/data:ro" sqlrank evaluate AUC --predictions clicks.parquet
FROM python:3.13-slim AS build
WORKDIR /source
COPY pyproject.toml README.md LICENSE ./
COPY sqlrank sqlrank
COPY sql sql
RUN python -m venv /opt/sqlrank && /opt/sqlrank/bin/pip install --no-cache-dir '.[report]'

FROM python:3.13-slim
COPY --from=build /opt/sqlrank /opt/sqlrank
RUN useradd --uid 10001 --create-home sqlrank
USER 10001
WORKDIR /data
ENTRYPOINT ["/opt/sqlrank/bin/sqlrank"]
CMD ["--help"]
