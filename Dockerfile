# docker build -t venire .
# docker run --rm --user "$(id -u)" -v "$PWD:/data" venire report judgments.tsv runs -o report.html
# Not run by the tests. For a release, pin the base by its digest.
FROM python:3.13-slim AS build
RUN apt-get update && apt-get install -y --no-install-recommends gcc libc6-dev
COPY . /source
RUN python -m venv /venire && /venire/bin/pip install --no-cache-dir --no-compile /source && \
    /venire/bin/venire --version | grep -q "scan of runs: compiled" && /venire/bin/pip uninstall --yes pip

FROM python:3.13-slim
COPY --from=build /venire /venire
RUN useradd --create-home --uid 1000 venire && mkdir /data && chown venire /data
USER venire
ENV MPLCONFIGDIR=/tmp/matplotlib
WORKDIR /data
ENTRYPOINT ["/venire/bin/venire"]
CMD ["--help"]
