# Stream fields of the protocols that carry no parameters.
victoria-logs -storageDataPath=/var/lib/victoria-logs -retentionPeriod=30d \
  -syslog.listenAddr.tcp=:29514 \
  -syslog.streamFields.tcp='["hostname","app_name"]' \
  -journald.streamFields=_HOSTNAME,_SYSTEMD_UNIT \
  -journald.ignoreFields='_BOOT_ID,_MACHINE_ID,_SOURCE_*' \
  -datadog.streamFields=service,hostname
