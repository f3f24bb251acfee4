# What llm-sandbox starts its containers from: every library is there before a session begins, in the environment that
# its interactive sessions look for. PEER_BASE is made of Debian packages, see benchmarks/peer_image.py.
ARG PEER_BASE
FROM ${PEER_BASE} AS installed
COPY wheels /wheels
COPY peer_image.txt /wheels/
RUN ["python3", "-m", "venv", "/sandbox/.sandbox-venv"]
RUN ["/sandbox/.sandbox-venv/bin/pip", "install", "--quiet", "--no-cache-dir", "--disable-pip-version-check", \
     "--no-index", "--find-links", "/wheels", "--requirement", "/wheels/peer_image.txt"]
# Debian compiles its library, and names its users, while packages are configured: nothing was configured here.
RUN ["python3", "-c", "import compileall, sysconfig; compileall.compile_dir(sysconfig.get_path('stdlib'), quiet=2)"]
RUN ["python3", "-c", "open('/etc/passwd', 'w').write('root:x:0:0::/root:/bin/sh\\n')"]
RUN ["rm", "-r", "/wheels"]

FROM scratch
COPY --from=installed / /
ENV PATH=/sandbox/.sandbox-venv/bin:/usr/bin:/bin
# A shell that waits ignores SIGTERM: the engine would wait ten seconds for it each time.
STOPSIGNAL SIGKILL
CMD ["sh"]
