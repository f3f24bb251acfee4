# The stock chat interface behind nginx: its files at /chat/, everything else passed on to the server, so that a
# browser sees one origin.
#
#   make chat-ui && docker build --file deploy/docker/chat.Dockerfile --tag sandtable-chat .
ARG PYTHON_BASE=python:3.11.14-slim-bookworm
ARG NGINX_BASE=nginx:1.28.0-bookworm

FROM ${NGINX_BASE} AS nginx

FROM ${PYTHON_BASE} AS collected
ARG SOURCE_DATE_EPOCH=1735689600
ENV SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH} PYTHONDONTWRITEBYTECODE=1
WORKDIR /build
COPY --from=nginx / /nginx
COPY deploy/docker/steps/collect ./collect
COPY deploy/docker/nginx ./nginx
COPY pyproject.toml ./
COPY web/stock/package-lock.json ./web/stock/
COPY src/sandtable/server/_built/chat-ui ./chat-ui
RUN ["python3", "-m", "collect.chat", "/layers"]

FROM scratch
COPY --from=collected /layers/nginx /
COPY --from=collected /layers/product /
USER 65532:65532
EXPOSE 8080
ENTRYPOINT ["/usr/sbin/nginx", "-e", "stderr", "-c", "/etc/nginx/nginx.conf"]
LABEL org.opencontainers.image.title="Sandtable chat" org.opencontainers.image.licenses="Apache-2.0"
