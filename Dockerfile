# The program `assay` in a small image. From the project's folder:
#   docker build --tag assay --build-arg ASSAY_COMMIT="$(git rev-parse HEAD)" .
#   docker run --rm --network none --volume "$PWD:/data" --user "$(id -u):$(id -g)" assay epsilon --release su-su-wang-2025 --delta 1e-11
# RELEASING.md says what of this has been tested.
FROM rust:1.95-slim-bookworm AS build
# GMP and MPFR are built from source. No versions: Debian's archive has only the newest one of a release.
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install --yes --no-install-recommends gcc libc6-dev m4 make \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /source
COPY . .
# Compiled in: the commit of the sources, which an archive without .git does not know.
ARG ASSAY_COMMIT=unknown
RUN cargo build --release --locked --bin assay && strip target/release/assay

FROM debian:bookworm-slim
COPY --from=build /source/target/release/assay /usr/local/bin/assay
COPY --from=build /source/LICENSE-MIT /source/LICENSE-APACHE /source/python/licenses/NOTICE /source/python/licenses/LGPL-3.0.md \
    /source/python/licenses/GPL-3.0.md /usr/local/share/doc/assay/
# The program needs no right and no network. Files of the user are mounted here.
RUN useradd --no-create-home --uid 10001 assay
USER 10001
WORKDIR /data
ENTRYPOINT ["assay"]
CMD ["--help"]
