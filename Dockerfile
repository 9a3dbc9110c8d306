# syntax=docker/dockerfile:1

# One image for the API, the worker and the command line. There is no build step: Node runs the sources as they are.
# glibc is required (Temporal's core does not run on Alpine).
#
# Behind a proxy: docker build --build-arg HTTP_PROXY=… --build-arg HTTPS_PROXY=… --build-arg NO_PROXY=… . (these names
# are known to Docker, reach apt and npm, and stay out of the image). From a mirror: --build-arg NODE_IMAGE=….
#
# The tag is not pinned by its digest: whoever raises the version adds the digest that their registry reports for both
# platforms, as node:VERSION-bookworm-slim@sha256:…. Until then the provenance of each release records which was used.
ARG NODE_IMAGE=node:24.21.0-bookworm-slim

FROM ${NODE_IMAGE} AS dependencies
WORKDIR /app
# .npmrc keeps packages from running scripts of their own while they are installed.
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev --no-audit --no-fund \
  && npm cache clean --force
# The core ships for five platforms, 25 MB each; the image runs on one.
RUN find node_modules/@temporalio/core-bridge/releases -mindepth 1 -maxdepth 1 \
  ! -name "$(uname -m)-unknown-linux-gnu" -exec rm -r {} + \
  && test -d "node_modules/@temporalio/core-bridge/releases/$(uname -m)-unknown-linux-gnu"

FROM ${NODE_IMAGE} AS runtime
# ca-certificates: the core checks Temporal's certificate by the system's list. tini: reaps children, passes signals on.
# hadolint ignore=DL3008
RUN apt-get update \
  && apt-get install -y --no-install-recommends ca-certificates tini \
  && rm -rf /var/lib/apt/lists/*
WORKDIR /app
# glibc: one arena for each thread would keep what the threads have freed.
ENV NODE_ENV=production \
  MALLOC_ARENA_MAX=2 \
  NODE_OPTIONS=--max-old-space-size=768 \
  DATA_DIR=/data \
  HOST=0.0.0.0 \
  PORT=8080
COPY --from=dependencies /app/node_modules ./node_modules
COPY package.json tsconfig.json ./
COPY src ./src
COPY workflows ./workflows
COPY activities ./activities
# The guides that /docs shows.
COPY docs ./docs
COPY LICENSE gateway.example.yaml ./
# Kept in node_modules/.cache, where no worker of the image may write.
RUN node --import ./src/typescript.js src/temporal/bundle-process.ts
# docker compose exec api gateway accounts list
RUN ln -s /app/src/gateway.js /usr/local/bin/gateway
# A volume that is mounted there takes over its owner.
RUN mkdir /data && chown 1000:1000 /data
# The user node, by number: then runAsNonRoot can tell.
USER 1000
EXPOSE 8080
# Of the API. The worker's own check stands in docker-compose.yml.
HEALTHCHECK --interval=15s --timeout=5s --start-period=60s --retries=4 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/healthz`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
LABEL org.opencontainers.image.title=Mediary \
  org.opencontainers.image.description="One address for video and image generation" \
  org.opencontainers.image.licenses=Apache-2.0
ENTRYPOINT ["tini", "--", "node", "src/gateway.js"]
CMD ["api"]
