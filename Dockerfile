# syntax=docker/dockerfile:1

# One image for the API, the worker and the command line. There is no build step, because Node runs the sources directly.
# The base image needs glibc, because Temporal's core does not run on Alpine.
#
# Behind a proxy: docker build --build-arg HTTP_PROXY=… --build-arg HTTPS_PROXY=… --build-arg NO_PROXY=… . Docker passes
# these arguments to apt and npm but does not store them in the image. From a mirror: --build-arg NODE_IMAGE=….
#
# The tag is not pinned to a digest yet. When you raise the version, add the digest that your registry reports for both
# platforms, as in node:VERSION-bookworm-slim@sha256:…. Until then, the provenance of each release records the image used.
ARG NODE_IMAGE=node:24.21.0-bookworm-slim

FROM ${NODE_IMAGE} AS dependencies
WORKDIR /app
# .npmrc prevents packages from running install scripts.
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev --no-audit --no-fund \
  && npm cache clean --force
# Temporal's core ships binaries for five platforms, 25 MB each. The image needs one.
RUN find node_modules/@temporalio/core-bridge/releases -mindepth 1 -maxdepth 1 \
  ! -name "$(uname -m)-unknown-linux-gnu" -exec rm -r {} + \
  && test -d "node_modules/@temporalio/core-bridge/releases/$(uname -m)-unknown-linux-gnu"

FROM ${NODE_IMAGE} AS runtime
# ca-certificates: Temporal's core verifies certificates against the system's list. tini: reaps children, forwards signals.
# hadolint ignore=DL3008
RUN apt-get update \
  && apt-get install -y --no-install-recommends ca-certificates tini \
  && rm -rf /var/lib/apt/lists/*
WORKDIR /app
# With one malloc arena per thread, glibc would keep memory that the threads have freed.
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
# The guides shown at /docs.
COPY docs ./docs
COPY LICENSE gateway.example.yaml ./
# The result is stored in node_modules/.cache, which is read-only in a running container.
RUN node --import ./src/typescript.js src/temporal/bundle-process.ts
# docker compose exec api gateway accounts list
RUN ln -s /app/src/gateway.js /usr/local/bin/gateway
# A volume mounted there inherits this owner.
RUN mkdir /data && chown 1000:1000 /data
# The user `node`, as a number so that Kubernetes can verify runAsNonRoot.
USER 1000
EXPOSE 8080
# For the API. docker-compose.yml overrides it for the worker.
HEALTHCHECK --interval=15s --timeout=5s --start-period=60s --retries=4 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/healthz`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
LABEL org.opencontainers.image.title=Mediary \
  org.opencontainers.image.description="One address for video and image generation" \
  org.opencontainers.image.licenses=Apache-2.0
ENTRYPOINT ["tini", "--", "node", "src/gateway.js"]
CMD ["api"]
