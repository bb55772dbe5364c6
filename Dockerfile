# Built from the Debian package: npm run package:deb && docker build -t stowage .
FROM debian:bookworm-slim AS unpacked
COPY tmp/stowage_*.deb /stowage.deb
RUN dpkg-deb --extract /stowage.deb /unpacked

FROM debian:bookworm-slim
RUN apt-get update \
	&& apt-get install --yes --no-install-recommends bubblewrap ca-certificates ffmpeg handbrake-cli libstdc++6 poppler-utils \
	&& rm -rf /var/lib/apt/lists/*
RUN useradd --system --uid 7420 --user-group --home-dir /var/lib/stowage --no-create-home --shell /usr/sbin/nologin stowage \
	&& install -d -o stowage -g stowage -m 0750 /var/lib/stowage
COPY --from=unpacked /unpacked/usr /usr
COPY --from=unpacked /unpacked/etc/stowage /etc/stowage

# Started as root with PUID and PGID, the server becomes that user instead.
USER stowage
ENV STOWAGE_HOST=0.0.0.0
EXPOSE 7420
VOLUME /var/lib/stowage
# It reads the same configuration as the server, so settings belong into variables or the file that STOWAGE_CONFIG names.
HEALTHCHECK --interval=30s --timeout=10s --start-period=60s CMD ["/usr/bin/stowage", "health"]
ENTRYPOINT ["/usr/bin/stowage"]
CMD ["serve"]
