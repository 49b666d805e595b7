/**
 * Flags and variables that operators of another proxy for VictoriaLogs use, by the place of their publication. They are facts; only
 * addresses and folders are changed. BACKEND is the address of a VictoriaLogs, FOLDER a writable folder.
 */
export interface PeerSet {
  readonly name: string;
  readonly flags: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** Splits flags at white space. */
function flagsOf(text: string): readonly string[] {
  return text.split(/\s+/).filter((flag) => flag !== '');
}

const nowhere = '127.0.0.1:9';
const teamMap =
  '{"team-alpha":{"account_id":"1","project_id":"1"},"team-beta":{"account_id":"1","project_id":"2"}}';

/** The flags that its chart passes with default values. */
const chart = flagsOf(`
  -admin-listen=127.0.0.1:0 -backend=BACKEND -backend-allow-unsupported-version=false -backend-compression=auto
  -backend-min-version=v1.30.0 -backend-timeout=120s -backend-version-check-timeout=5s -cache-max=50000 -cache-ttl=60s
  -http-conn-max-age=10m -http-conn-max-age-jitter=2m -http-conn-max-requests=256 -http-conn-overload-max-age=90s
  -http-idle-timeout=90s -http-max-body-bytes=10485760 -http-max-header-bytes=1048576 -http-read-timeout=30s
  -http-write-timeout=120s -label-values-hot-limit=200 -label-values-index-max-entries=200000 -label-values-indexed-cache=false
  -listen=127.0.0.1:0 -log-level=info -max-concurrent=64 -metrics-listen=127.0.0.1:0 -patterns-autodetect-from-queries=false
  -patterns-enabled=true -peer-timeout=2s -peer-write-through=true -peer-write-through-min-ttl=30s
  -query-range-adaptive-cooldown=30s -query-range-adaptive-max-parallel=8 -query-range-adaptive-min-parallel=2
  -query-range-adaptive-parallel=true -query-range-error-backoff-threshold=0.02 -query-range-freshness=10m
  -query-range-history-cache-ttl=24h -query-range-latency-backoff=3s -query-range-latency-target=1.5s
  -query-range-max-parallel=4 -query-range-recent-cache-ttl=0s -query-range-split-interval=1h -query-range-windowing=true
  -rate-limit-burst=100 -rate-limit-per-second=50 -recent-tail-refresh-enabled=true -recent-tail-refresh-max-staleness=2s
  -recent-tail-refresh-window=2m -response-compression=gzip -response-compression-min-bytes=1024
  -server.register-instrumentation=true -otlp-tls-skip-verify=false -metrics.max-tenants=256 -metrics.max-clients=256
  -metrics.trust-proxy-headers=false -metrics.export-sensitive-labels=false -server.metrics-max-concurrency=1
  -host-proc-root=FOLDER`);
const chartEnv = {
  GOMEMLIMIT: '456340275B',
  OTEL_SERVICE_INSTANCE_ID: 'pod-0',
  OTEL_SERVICE_NAMESPACE: 'monitoring',
};
const fleet = flagsOf(`
  -warmup-max-jitter=10s -disk-cache-path=FOLDER/proxy.db -peer-self=${nowhere} -peer-self-az=zone-a -peer-auth-token=token`);
const compat = flagsOf(`
  -label-style=underscores -metadata-field-mode=translated -emit-structured-metadata=true -patterns-enabled=true`);
const composePeers = [
  ...flagsOf(
    `-backend=BACKEND -cache-ttl=60s -cache-max=5000 -peer-self=${nowhere} -peer-auth-token=fleet-secret`,
  ),
  ...compat,
  '-log-level=info',
];
/** The flags of each proxy in its stack for compatibility tests. */
const stack = flagsOf(`
  -listen=127.0.0.1:0 -backend=BACKEND -ruler-backend=http://${nowhere} -alerts-backend=http://${nowhere} -log-level=info
  -cache-ttl=5s -rate-limit-per-second=0 -rate-limit-burst=0 -max-concurrent=0 -metadata-default-lookback=0
  -server.enable-pprof -server.register-instrumentation=true -server.admin-auth-token=e2e-test-token`);
const indexed = flagsOf(`
  -label-values-indexed-cache=true -label-values-hot-limit=200 -label-values-index-max-entries=200000
  -label-values-index-persist-path=FOLDER/label-values-index.json -label-values-index-persist-interval=30s
  -label-values-index-startup-stale-threshold=60s -label-values-index-startup-peer-warm-timeout=5s`);
const quickEnv = {
  VL_BACKEND_URL: 'BACKEND',
  LISTEN_ADDR: '127.0.0.1:0',
  LABEL_STYLE: 'underscores',
  METADATA_FIELD_MODE: 'translated',
};

/** Sets with which both that proxy and this one start. */
export const startingSets: readonly PeerSet[] = [
  { name: 'chart: default values', flags: chart, env: chartEnv },
  {
    name: 'chart: a single instance',
    flags: [...chart, ...flagsOf('-label-style=passthrough -metadata-field-mode=hybrid')],
    env: chartEnv,
  },
  {
    name: 'chart: several tenants and cold storage',
    flags: [
      ...chart,
      ...flagsOf(`-require-tenant-header=true -forward-tenant-header=true -cold-enabled=true -cold-backend=BACKEND
        -cold-boundary=168h -cold-overlap=1h`),
    ],
    env: { ...chartEnv, TENANT_MAP: teamMap },
  },
  {
    name: 'chart: production with high availability',
    flags: [
      ...chart,
      ...fleet,
      ...flagsOf(`-label-style=passthrough -metadata-field-mode=hybrid -otel-service-name=loki-vl-proxy
        -peer-discovery=dns -peer-dns=localhost`),
    ],
    env: chartEnv,
  },
  ...[
    ['dns', '-peer-dns=localhost'],
    ['srv', '-peer-srv=_loki-vl-proxy._tcp.localhost'],
    ['http', `-peer-http-url=http://${nowhere}/v1/health/service/loki-vl-proxy?passing=true`],
    ['static', '-peer-static=127.0.0.1:9,127.0.0.2:9,127.0.0.3:9'],
  ].map(([discovery = '', where = '']) => ({
    name: `chart: peers by ${discovery}`,
    flags: [...chart, ...fleet, `-peer-discovery=${discovery}`, where],
    env: chartEnv,
  })),
  {
    name: 'chart: without limits (tuning)',
    flags: [...chart, ...flagsOf('-max-concurrent=0 -rate-limit-per-second=0 -rate-limit-burst=0')],
    env: chartEnv,
  },
  {
    name: 'chart: a large replica (scaling)',
    flags: [
      ...chart,
      ...flagsOf(`-cache-ttl=120s -cache-max=50000 -disk-cache-path=FOLDER/proxy.db -disk-cache-compress=true
        -disk-cache-flush-size=500 -max-concurrent=200 -rate-limit-per-second=100 -rate-limit-burst=200 -cb-open-duration=30s`),
    ],
    env: chartEnv,
  },
  { name: 'chart: an index of label values', flags: [...chart, ...indexed], env: chartEnv },
  {
    name: 'compose: for development',
    flags: flagsOf(
      '-listen=127.0.0.1:0 -backend=BACKEND -log-level=debug -cache-ttl=30s -server.admin-auth-token=local-dev-token',
    ),
  },
  { name: 'compose: with Grafana', flags: ['-backend=BACKEND', ...compat, '-log-level=info'] },
  {
    name: 'compose: static peers',
    flags: [...composePeers, '-peer-discovery=static', `-peer-static=${nowhere},127.0.0.2:9,127.0.0.3:9`],
  },
  {
    name: 'compose: peers by DNS',
    flags: [...composePeers, '-peer-discovery=dns', '-peer-dns=localhost'],
  },
  {
    name: 'compose: peers by Prometheus service discovery',
    flags: [...composePeers, '-peer-discovery=http', `-peer-http-url=http://${nowhere}/peers`],
  },
  {
    name: 'compose: the stack of compatibility tests, with peers and a disk cache',
    flags: [
      ...stack,
      ...indexed,
      ...flagsOf(`-disk-cache-path=FOLDER/proxy-l2.bolt -disk-cache-max-bytes=536870912 -disk-cache-min-ttl=1s
        -drilldown-scan-timeout=3s -peer-discovery=static -peer-self=${nowhere} -peer-self-az=zone-a
        -peer-static=${nowhere},127.0.0.2:9 -peer-auth-token=e2e-peer-shared-token -peer-hot-read-ahead-enabled=true`),
    ],
    env: { GOMEMLIMIT: '2GiB' },
  },
  {
    name: 'compose: the stack of compatibility tests, with patterns from queries',
    flags: [
      ...stack,
      ...flagsOf(`-label-style=underscores -metadata-field-mode=hybrid -emit-structured-metadata=true -patterns-enabled=true
        -patterns-autodetect-from-queries=true -patterns-persist-path=FOLDER/patterns-snapshot.json
        -patterns-persist-interval=5s -patterns-startup-stale-threshold=30s -patterns-startup-peer-warm-timeout=2s`),
    ],
    env: { GOMEMLIMIT: '2GiB', GOGC: '80' },
  },
  {
    name: 'compose: the stack of compatibility tests, with tails',
    flags: [
      ...stack,
      ...flagsOf(`-label-style=underscores -tail.mode=synthetic
        -tail.allowed-origins=http://grafana:3000,http://127.0.0.1:3002,http://localhost:3002`),
    ],
  },
  {
    name: 'file of variables and systemd unit',
    flags: flagsOf('-emit-structured-metadata=true -patterns-enabled=true'),
    env: quickEnv,
  },
  {
    name: 'Kubernetes ConfigMap of variables',
    flags: flagsOf('-emit-structured-metadata=true -patterns-enabled=true -log-level=info'),
    env: { ...quickEnv, OTEL_SERVICE_NAME: 'loki-vl-proxy' },
  },
  {
    name: 'file of variables: every one',
    flags: flagsOf('-emit-structured-metadata=true -patterns-enabled=true'),
    env: {
      ...quickEnv,
      RULER_BACKEND_URL: `http://${nowhere}`,
      ALERTS_BACKEND_URL: `http://${nowhere}`,
      FIELD_MAPPING: '[{"vl_field":"service.name","loki_label":"service_name"}]',
      EXTRA_LABEL_FIELDS: 'host.id,custom.pipeline.processing',
      TENANT_MAP: teamMap,
      TENANT_MAP_FILE: 'FOLDER/tenant-map.yaml',
      TENANT_LABEL: 'tenant',
      TENANT_LIMITS_ALLOW_PUBLISH: 'query_timeout,max_query_series,max_entries_limit_per_query',
      TENANT_DEFAULT_LIMITS: '{"query_timeout":"2m","max_query_series":1000}',
      TENANT_LIMITS: '{"team-alpha":{"max_query_series":5000}}',
      OTLP_ENDPOINT: `http://${nowhere}/v1/metrics`,
      OTLP_COMPRESSION: 'none',
      OTLP_HEADERS: 'Authorization=Bearer tok,X-Custom=value',
      OTEL_SERVICE_NAME: 'loki-vl-proxy',
      OTEL_SERVICE_NAMESPACE: 'monitoring',
      OTEL_SERVICE_INSTANCE_ID: 'pod-0',
      DEPLOYMENT_ENVIRONMENT: 'production',
      PROC_ROOT: '/proc',
      HOST_PROC_ROOT: 'FOLDER',
      TRANSLATE_OTEL_ATTRIBUTES: 'true',
      FORWARD_TENANT_HEADER: 'true',
    },
  },
  {
    name: 'script for a local run',
    flags:
      flagsOf(`-backend=BACKEND -listen=127.0.0.1:0 -label-style=underscores -metadata-field-mode=translated
      -emit-structured-metadata=true -patterns-enabled=true -log-level=info`),
  },
  {
    // Without the four TLS flags, because such a script does not create their files.
    name: 'script for a local run: every flag that it comments',
    flags: [
      ...flagsOf(`-backend=BACKEND -ruler-backend=http://${nowhere} -alerts-backend=http://${nowhere} -listen=127.0.0.1:0
        -label-style=underscores -metadata-field-mode=translated -emit-structured-metadata=true -patterns-enabled=true
        -patterns-autodetect-from-queries=true -patterns-persist-path=FOLDER/patterns.json -patterns-persist-interval=30s
        -tenant-map=${teamMap} -tenant-map-file=FOLDER/tenant-map.yaml -tenant-map-reload-interval=30s -tenant-label=tenant
        -require-tenant-header=false -tenant.allow-global=false -tenant-limits-allow-publish=query_timeout,max_query_series
        -tenant-default-limits={"query_timeout":"2m","max_query_series":5000}
        -tenant-limits={"team-alpha":{"max_query_series":10000}} -cache-ttl=60s -cache-max-bytes=104857600
        -cache-disabled=false -coalescer-disabled=false -disk-cache-path=FOLDER/cache.db
        -disk-cache-max-bytes=10737418240 -disk-cache-compress=true -query-range-split-interval=1h
        -query-range-adaptive-parallel=true -query-range-adaptive-min-parallel=2 -query-range-adaptive-max-parallel=8
        -query-range-history-cache-ttl=24h -backend-timeout=120s -backend-compression=auto -backend-tls-skip-verify=false
        -backend-basic-auth=user:password -forward-headers=X-Custom-Header -forward-authorization=false
        -field-mapping=[{"vl_field":"service.name","loki_label":"service_name"}]
        -extra-label-fields=host.id,custom.pipeline.processing -stream-fields=app,env,namespace -max-concurrent=100
        -rate-limit-per-second=50 -rate-limit-burst=100 -http-read-timeout=30s -http-write-timeout=120s
        -http-idle-timeout=120s -otlp-endpoint=http://${nowhere}/v1/metrics -otlp-interval=30s -otlp-compression=none
        -otel-service-name=loki-vl-proxy -otel-service-namespace=monitoring -otel-service-instance-id=local
        -deployment-environment=development -server.enable-pprof=false -server.enable-query-analytics=false
        -server.admin-auth-token= -go-mem-limit-percent=85 -go-gc-percent=200 -log-level=info`),
      '-otlp-headers=Authorization=Bearer tok',
    ],
  },
  {
    name: 'every flag that it has, with its default',
    flags: flagsOf(`-backend=BACKEND -listen=127.0.0.1:0 -metrics-listen= -admin-listen=127.0.0.1:0
      -ruler-backend= -alerts-backend= -log-level=info -log-request-sample-rate=0 -log-buffered=true
      -log-stats-interval=10s -log-rate-threshold=10 -debug-log-raw-queries=false -metadata-default-lookback=12h
      -drilldown-scan-timeout=5s -cache-ttl=60s -labels-cache-ttl=0s -warmup-max-jitter=0s -cache-max=10000
      -cache-max-bytes=268435456 -cache-disabled=false -coalescer-disabled=false -compat-cache-enabled=true
      -compat-cache-max-percent=10 -disk-cache-path= -disk-cache-compress=true -disk-cache-flush-size=100
      -disk-cache-flush-interval=5s -disk-cache-min-ttl=30s -disk-cache-max-bytes=0 -tenant-map= -tenant-map-file=
      -tenant-map-reload-interval=30s -tenant-label= -forward-tenant-header=true -tenant-limits-allow-publish=
      -tenant-default-limits= -otlp-endpoint= -otlp-interval=30s -otlp-compression=none -otlp-timeout=10s
      -otlp-tls-skip-verify=false -otlp-headers= -otel-service-name=loki-vl-proxy -otel-service-namespace=
      -otel-service-instance-id= -deployment-environment= -proc-root=/proc -host-proc-root=/proc
      -http-read-timeout=30s -http-read-header-timeout=10s -http-write-timeout=120s -http-idle-timeout=120s
      -http-max-header-bytes=1048576 -http-max-body-bytes=10485760 -max-concurrent=100 -rate-limit-per-second=50
      -rate-limit-burst=100 -http-conn-max-age=10m -http-conn-max-age-jitter=2m -http-conn-max-requests=256
      -http-conn-overload-max-age=90s -tls-cert-file= -tls-key-file= -tls-client-ca-file=
      -tls-require-client-cert=false -response-gzip=true -response-compression-min-bytes=1024 -max-lines=1000
      -manual-range-metric-row-limit=1000000 -backend-timeout=120s -cb-fail-threshold=5 -cb-open-duration=10s
      -cb-window-duration=30s -backend-min-version=v1.30.0 -backend-allow-unsupported-version=false
      -backend-version-check-timeout=5s -backend-version-strict=false -backend-basic-auth= -backend-compression=auto
      -backend-tls-skip-verify=false -forward-headers= -forward-authorization=false -forward-cookies= -derived-fields=
      -stream-response=false -emit-structured-metadata=true -patterns-enabled=true
      -patterns-autodetect-from-queries=false -patterns-custom-file= -query-range-windowing=true
      -query-range-split-interval=1h -query-range-max-parallel=2 -query-range-adaptive-parallel=true
      -query-range-adaptive-min-parallel=2 -query-range-adaptive-max-parallel=8 -query-range-latency-target=1500ms
      -query-range-latency-backoff=3s -query-range-adaptive-cooldown=30s -query-range-error-backoff-threshold=0.02
      -query-range-freshness=10m -query-range-recent-cache-ttl=0s -query-range-history-cache-ttl=24h
      -query-range-prefilter-index-stats=true -query-range-prefilter-min-windows=8
      -query-range-stream-aware-batching=true -query-range-expensive-hit-threshold=2000
      -query-range-expensive-max-parallel=1 -query-range-align-windows=true -query-range-window-timeout=20s
      -query-range-partial-responses=false -query-range-background-warm=true
      -query-range-background-warm-max-windows=24 -recent-tail-refresh-enabled=true -recent-tail-refresh-window=2m
      -recent-tail-refresh-max-staleness=2s -default-max-query-length=0s -max-stats-query-series=0
      -stats-query-range-concurrency=0 -drilldown-burst-window-ms=50 -drilldown-burst-max-fields=30
      -drilldown-field-batch-window-ms=100 -drilldown-field-batch-max-fields=6
      -stats-query-range-inter-query-delay-ms=200 -go-mem-limit=0 -go-mem-limit-percent=85 -go-gc-percent=200
      -auth.enabled=false -require-tenant-header=false -server.register-instrumentation=false
      -server.enable-pprof=false -server.enable-query-analytics=false -server.admin-auth-token= -tail.allowed-origins=
      -tail.mode=auto -metrics.max-tenants=256 -metrics.max-clients=256 -metrics.trust-proxy-headers=false
      -metrics.export-sensitive-labels=false -server.metrics-max-concurrency=1 -translate-otel-attributes=true
      -field-mapping= -stream-fields= -label-values-indexed-cache=false -label-values-hot-limit=200
      -label-values-index-max-entries=200000 -label-values-index-persist-path=
      -label-values-index-persist-interval=30s -label-values-index-startup-stale-threshold=60s
      -label-values-index-startup-peer-warm-timeout=5s -patterns-persist-path= -patterns-persist-interval=30s
      -patterns-startup-stale-threshold=60s -patterns-startup-peer-warm-timeout=5s -cold-backend= -cold-boundary=168h
      -cold-overlap=1h -cold-enabled=false -cold-manifest-refresh=5m -cold-timeout=30s -peer-self= -peer-self-az=
      -peer-discovery= -peer-dns= -peer-srv= -peer-static= -peer-timeout=2s -peer-auth-token=
      -peer-insecure-ip-allowlist=false -peer-write-through=true -peer-write-through-min-ttl=30s
      -peer-hot-read-ahead-enabled=false -peer-hot-read-ahead-interval=30s -peer-hot-read-ahead-jitter=5s
      -peer-hot-read-ahead-top-n=256 -peer-hot-read-ahead-max-keys-per-interval=64
      -peer-hot-read-ahead-max-bytes-per-interval=8388608 -peer-hot-read-ahead-max-concurrency=4
      -peer-hot-read-ahead-min-ttl=30s -peer-hot-read-ahead-max-object-bytes=262144
      -peer-hot-read-ahead-tenant-fair-share=50 -peer-hot-read-ahead-error-backoff=15s`),
  },
  {
    name: 'documentation: custom patterns and more labels, two dashes, a flag given twice',
    flags: [
      ...flagsOf(`--backend=BACKEND --cache-ttl=30s -cache-ttl=60s -label-style=underscores -metadata-field-mode=translated
        -extra-label-fields=host.id,k8s.cluster.name,custom.pipeline.processing -default-max-query-length=720h`),
      '-patterns-custom=["time=\\"<_>\\" level=info msg=\\"finished unary call\\"","grpc.code=<_> grpc.method=<_>"]',
    ],
  },
];

/** Sets that this program refuses; that proxy refuses them, too. */
export const refusedSets: readonly (PeerSet & { readonly reason: RegExp })[] = [
  {
    name: 'documentation: a disk cache of 20Gi',
    flags: [...chart, ...flagsOf('-disk-cache-path=FOLDER/proxy.db -disk-cache-max-bytes=20Gi')],
    reason: /-disk-cache-max-bytes must be a whole number/,
  },
  {
    name: 'documentation: a tenant map of texts',
    flags: ['-backend=BACKEND', '-tenant-map={"team-a":"vl-tenant-1","team-b":"vl-tenant-2"}'],
    reason: /-tenant-map at team-a must be a mapping/,
  },
  {
    name: 'documentation: metrics are pushed and not scraped, beside the listener for metrics of the chart',
    flags: [
      ...chart,
      ...flagsOf(`-otlp-endpoint=http://${nowhere}/v1/metrics -server.register-instrumentation=false`),
    ],
    env: chartEnv,
    reason: /R041/,
  },
];
