/* Generated from schemas/*.schema.json by `npm run generate`; do not edit. */
/* Options as code gets them: defaults filled in, durations in milliseconds. */

/** Options of several plugins that the same flag sets, described for the plugin that has the flag. */
export interface SharedOptions {
  /** PEM file of the server certificate; together with the key file it enables HTTPS. */
  readonly tlsCertFile?: string;
  /** PEM file of the private key that belongs to the server certificate. */
  readonly tlsKeyFile?: string;
  /** PEM file of the CAs that sign trusted client certificates; a connection with a certificate of another CA is closed after the handshake. */
  readonly tlsClientCaFile?: string;
  /** Stream log responses in chunks, without a Content-Length header; this turns off the response cache (tier0) for queries. */
  readonly streamResponse: boolean;
  /** Compression requested from the backend. auto requests none from a backend on the same machine and gzip otherwise. zstd needs Node 22.15; older versions request gzip instead. */
  readonly compression: 'auto' | 'gzip' | 'zstd' | 'none';
  /** Remove addresses, host names and file paths of the backend from the error texts that clients see; the log keeps them. */
  readonly hidesAddresses: boolean;
  /** Do not verify the certificate of the backend. */
  readonly tlsSkipVerify: boolean;
  /** Forward the Authorization header of the client to the backend. */
  readonly forwardAuthorization: boolean;
  /** Request headers that are forwarded to the backend. */
  readonly forwardHeaders: readonly string[];
  /** Cookies that are forwarded to the backend; * means all. */
  readonly forwardCookies: readonly string[];
  /** Maximum size of a backend response that is buffered in memory. (bytes) */
  readonly maxBufferedResponseBytes: number;
  /** Maximum size of a row that the backend sends; VictoriaLogs stores rows of up to 2 MB. (bytes) */
  readonly maxRowBytes: number;
  /** Number of connection failures within the window that opens the circuit breaker, which stops calls to the backend for a while. (failures) */
  readonly breakerFailThreshold: number;
  /** Time that the circuit breaker stays open before it lets calls to the backend through again. (milliseconds) */
  readonly breakerOpenDuration: number;
  /** Time window in which the circuit breaker counts connection failures. (milliseconds) */
  readonly breakerWindowDuration: number;
  /** Maximum number of requests that this replica runs or queues; further requests are refused; 0 means no limit. (requests) */
  readonly maxConcurrent: number;
  /** Turn off the memory cache and the disk cache. */
  readonly cacheDisabled: boolean;
  /** Maximum number of entries in the memory cache. (entries) */
  readonly cacheMax: number;
  /** Maximum size of the memory cache. (bytes) */
  readonly cacheMaxBytes: number;
  /** TTL of label names and values; 0 means 5m, and more for longer ranges. (milliseconds) */
  readonly labelsCacheTtl: number;
  /** Cached answers to label and series requests that end within this time of now are refreshed early; 0 treats them like all others. (milliseconds) */
  readonly maxMetadataCacheFreshness: number;
  /** Refresh cached answers to recent queries early, once they are older than -recent-tail-refresh-max-staleness; labels and series follow -max-metadata-cache-freshness. */
  readonly recentTailRefreshEnabled: boolean;
  /** A request that ends within this time of now counts as recent. (milliseconds) */
  readonly recentTailRefreshWindow: number;
  /** Maximum age at which a recent answer is served from the cache. (milliseconds) */
  readonly recentTailRefreshMaxStaleness: number;
  /** Database file of the disk cache; empty turns it off. */
  readonly diskCachePath: string;
  /** Minimum TTL of an answer that is written to disk. Empty lists of labels and label values are cached at least this long. (milliseconds) */
  readonly diskCacheMinTtl: number;
  /** Minimum TTL of an answer that is pushed to the owner of its cache key. Empty lists of labels and label values are cached at least this long. (milliseconds) */
  readonly peerWriteThroughMinTtl: number;
  /** Maximum number of threads that evaluate expensive lines, such as long lines with complex patterns, which would block all other requests. They start on demand. (threads) */
  readonly lineThreads: number;
  /** Timeout for the evaluation of one line in such a thread; the query fails when it is exceeded. (milliseconds) */
  readonly lineTimeout: number;
  /** Return partial answers with a warning if some windows fail. */
  readonly partialResponses: boolean;
}

/** Listeners, TLS, HTTP limits, compression and the format of error bodies. */
export interface ServerOptions
  extends Pick<SharedOptions, 'tlsCertFile' | 'tlsKeyFile' | 'tlsClientCaFile' | 'streamResponse'> {
  /** Address that clients such as Grafana connect to. */
  readonly listen: string;
  /** Number of worker processes that share the same addresses; auto means one per CPU. Rate limits and the limit of in-flight requests apply to all workers together; cache memory is per worker. (processes) */
  readonly workers: string | number;
  /** Address of the admin and debug routes; with an admin token they are on the main listener instead. */
  readonly adminListen: string;
  /** Address that serves /metrics instead of the main listener. */
  readonly metricsListen?: string;
  /** Token that admin and debug requests must carry as a bearer token or in X-Admin-Token. */
  readonly adminAuthToken?: string;
  /** Refuse connections without a client certificate signed by a trusted CA. */
  readonly tlsRequireClientCert: boolean;
  /** Host names that the main listener accepts, besides IP addresses and localhost; empty means any. This protects against DNS rebinding: a web page whose host name resolves to this machine could otherwise read answers through a user's browser. */
  readonly httpAllowedHosts: readonly string[];
  /** Host names that the admin listener accepts, besides IP addresses and localhost. */
  readonly adminAllowedHosts: readonly string[];
  /** Timeout for reading a whole request from a client; 0 means no limit. (milliseconds) */
  readonly httpReadTimeout: number;
  /** Timeout for reading the request headers from a client; 0 means no limit. (milliseconds) */
  readonly httpReadHeaderTimeout: number;
  /** Timeout from the end of a request to the end of its response; 0 means no limit. (milliseconds) */
  readonly httpWriteTimeout: number;
  /** Idle timeout of a keep-alive connection; 0 means no limit. (milliseconds) */
  readonly httpIdleTimeout: number;
  /** Maximum total size of the request headers. (bytes) */
  readonly httpMaxHeaderBytes: number;
  /** Maximum size of a request body. (bytes) */
  readonly httpMaxBodyBytes: number;
  /** Maximum age of a keep-alive connection, after which the client is asked to close it, so that load spreads over replicas; 0 means no limit. (milliseconds) */
  readonly httpConnMaxAge: number;
  /** Random jitter added to the maximum age of a connection, so that connections do not all close at the same time. (milliseconds) */
  readonly httpConnMaxAgeJitter: number;
  /** Maximum number of requests on a keep-alive connection, after which the client is asked to close it; 0 means no limit. */
  readonly httpConnMaxRequests: number;
  /** Answer a GET request directly from the response cache (tier0) if a byte-identical request was answered from it before; false runs every stage for every request. */
  readonly httpFastLane: boolean;
  /** Maximum number of pipelined requests without a response on one connection; one more gets a 429, and the connection is closed. */
  readonly httpConnMaxPipelined: number;
  /** Maximum age of a connection while this replica is overloaded. (milliseconds) */
  readonly httpConnOverloadMaxAge: number;
  /** Compression of responses to clients that accept it; auto is the same as gzip. */
  readonly responseCompression: 'gzip' | 'auto' | 'none';
  /** Minimum size of a response that is compressed. (bytes) */
  readonly responseCompressionMinBytes: number;
  /** Earlier switch for compression; false turns it off, unless -response-compression is auto. */
  readonly responseGzip: boolean;
  /** Repeat the error text in the field "message", which Grafana displays. */
  readonly errorResponseMessageField: boolean;
  /** Longest time that in-flight requests get to finish at shutdown. (milliseconds) */
  readonly drainTimeout: number;
  /** Time between the stop signal and the start of draining. The process still accepts connections and /ready answers 503, so that load balancers send requests elsewhere; a second signal ends the delay. (milliseconds) */
  readonly shutdownDelay: number;
  /** Longest time that requests and tails may stay on the previous pipeline after a reload; remaining tails are then closed, and clients reopen them. (milliseconds) */
  readonly reloadDrainTimeout: number;
  /** Directory for all files that the process writes: worker sockets, files of options such as -disk-cache-path with a relative path, and facts.json (-facts-persist-path). Without it, sockets are in the temporary directory, and relative paths start at the working directory. */
  readonly dataDir: string;
  /** Timeout for the startup of each plugin. (milliseconds) */
  readonly startTimeout: number;
  /** Memory limit of a Go runtime. */
  readonly goMemLimit: string;
  /** Memory limit of a Go runtime in percent of the container limit. (percent) */
  readonly goMemLimitPercent: number;
  /** Garbage collection target of a Go runtime. (percent) */
  readonly goGcPercent: string;
}

/** Translation of label and field names between clients and the backend. */
export interface NamesOptions {
  /** Show dotted backend names with underscores, and translate queries back, or show names as they are stored. */
  readonly labelStyle: 'underscores' | 'passthrough';
  /** Show structured metadata and detected fields with underscore names, dotted names, or both. */
  readonly metadataFieldMode: 'translated' | 'native' | 'hybrid';
  /** Send structured metadata and parsed labels as the third element of log entries to clients that ask for categorized labels. */
  readonly emitStructuredMetadata: boolean;
  /** Reject dotted names in queries with Loki's parse error, or accept and translate them; auto rejects them in the reference-compatible profile only. */
  readonly logqlDottedNames: 'auto' | 'reject' | 'accept';
  /** Support limit, offset and search on label endpoints; auto turns this on outside the reference-compatible profile and with the label-values index. */
  readonly labelBrowseExtensions: 'auto' | 'on' | 'off';
  /** True if the label values index is on. The value auto of the browse parameters depends on it. */
  readonly labelValuesIndexedCache: boolean;
  /** Translate well-known OpenTelemetry attribute names between underscores and dots in backend queries. */
  readonly translateOtelAttributes: boolean;
  /** Custom aliases: a JSON array of objects with vl_field (name in the backend) and loki_label (name for clients). */
  readonly fieldMapping: {
    readonly vl_field: string;
    readonly loki_label: string;
  }[];
  /** Stream fields that are labels in every stream, including the streams of OpenTelemetry exporters. A field that another option declares as a label uses the stream index if it is listed here. */
  readonly streamFields: readonly string[];
  /** Which stream fields are labels: all; those with legal label names and promoted OpenTelemetry attributes only; or auto, which is all but in streams of OpenTelemetry exporters (docs/loki-view.md). */
  readonly streamLabels: 'auto' | 'all' | 'promoted';
  /** More backend fields that are labels: they are listed, have values, and work in selectors and volumes. Write them with dots or underscores. */
  readonly extraLabelFields: readonly string[];
  /** OpenTelemetry resource attributes that Loki stores as labels rather than as structured metadata. */
  readonly promotedAttributes: readonly string[];
  /** The same list per X-Scope-OrgID, for a Loki that was configured per tenant; it replaces promotedAttributes for that tenant. */
  readonly tenantPromotedAttributes: {
    readonly [k: string]: readonly string[];
  };
  /** Text that the backend stores for rows without a message, if it is configured to something other than its default. */
  readonly backendDefaultMsgValue: string;
  /** Detect the level from the line if no level field is stored; false uses stored fields only. */
  readonly detectedLevelBodyScan: boolean;
}

/** Query limits, global and per tenant. */
export interface LimitsOptions {
  /** Limits per X-Scope-OrgID, as a JSON object of objects, for example {"team-a":{"max_query_length":"90d"}}. */
  readonly tenantLimits: {
    readonly [k: string]: {
      readonly [k: string]: unknown;
    };
  };
  /** Limits for every tenant, as a JSON object; durations may use d, w and y. */
  readonly tenantDefaultLimits: {
    readonly [k: string]: unknown;
  };
  /** Limits that the limits endpoints publish; unset means the built-in list. */
  readonly tenantLimitsAllowPublish?: readonly string[];
  /** Maximum time range of a query for tenants without their own limit; 0 means no limit. (milliseconds) */
  readonly defaultMaxQueryLength: number;
  /** Maximum length of a query text; 0 means no limit. (bytes) */
  readonly maxQueryLengthBytes: number;
  /** Number of log lines returned to a request without a limit; Loki's default is 100. (lines) */
  readonly maxLines: number;
  /** Largest limit that a request may set, as in Loki; 0 means no cap. (lines) */
  readonly maxEntriesLimitPerQuery: number;
  /** Maximum number of series that a metric query may return; 0 means 500. (series) */
  readonly maxStatsQuerySeries: number;
  /** Maximum estimated memory in bytes that one query may use at a time, for series, values, lines, listings and the answer; 0 means no limit. (bytes) */
  readonly maxQueryMemory: number;
  /** Maximum number of rows that a metric query may read if the backend cannot compute it and the proxy evaluates it. (rows) */
  readonly manualRangeMetricRowLimit: number;
  /** Maximum size of a list of label values; a larger list is an error. (bytes) */
  readonly labelValuesMaxResponseBytes: number;
  /** Time range of label and series requests without start and end; 0 means no limit. (milliseconds) */
  readonly metadataDefaultLookback: number;
  /** Maximum number of tenants in one request. (tenants) */
  readonly multiTenantMaxFanout: number;
  /** Maximum size of the merged answer to a multi-tenant request. (bytes) */
  readonly multiTenantMaxMergedResponseBytes: number;
  /** Maximum memory for the operands of a binary metric expression. (bytes) */
  readonly binaryMetricMaxOperandBytes: number;
  /** Maximum number of sample arrays in the operands of a binary metric expression. */
  readonly binaryMetricMaxArrays: number;
  /** Instant queries that may use approx_topk, which is evaluated as topk. loki: as in a Loki with default settings, which refuses it over queries that it divides into shards. exact: all. Loki's own setting is -limits.shard_aggregations=approx_topk. */
  readonly approxTopk: 'loki' | 'exact';
  /** Maximum number of time buckets that one answer may fill with zeros. */
  readonly maxZeroFillBuckets: number;
}

/** Logs, metrics, traces and where they are sent. */
export interface TelemetryOptions {
  /** Minimum level of log records. */
  readonly logLevel: 'debug' | 'info' | 'warn' | 'error';
  /** Format of log records: json, or text with one readable line per record. The default is text on a terminal and json otherwise. */
  readonly logFormat?: 'json' | 'text';
  /** Log one in this many successful requests while adaptive sampling is off; 0 and 1 log all. */
  readonly logRequestSampleRate: number;
  /** Write log records asynchronously. */
  readonly logBuffered: boolean;
  /** Interval between request summaries. (milliseconds) */
  readonly logStatsInterval: number;
  /** Requests per second above which summaries replace access records; errors are always logged. (requests/s) */
  readonly logRateThreshold: number;
  /** Log query texts, instead of a digest and a length. */
  readonly debugLogRawQueries: boolean;
  /** Serve /metrics and the cache flush route. */
  readonly registerInstrumentation: boolean;
  /** Maximum number of concurrent scrapes of /metrics; 0 means no limit. */
  readonly metricsMaxConcurrency: number;
  /** Export metrics per tenant and per client. */
  readonly metricsExportSensitiveLabels: boolean;
  /** Maximum number of tenants with their own metric series; all others share one. */
  readonly metricsMaxTenants: number;
  /** Maximum number of clients with their own metric series; all others share one. */
  readonly metricsMaxClients: number;
  /** Trust the user and client address headers that a reverse proxy sets. */
  readonly metricsTrustProxyHeaders: boolean;
  /** Path of the proc file system with the metrics of the process and its network. */
  readonly procRoot: string;
  /** Path of the proc file system with the metrics of the host: CPU, memory, pressure; unset means the same as -proc-root. */
  readonly hostProcRoot?: string;
  /** OTLP endpoint for metrics; /v1/metrics is appended to a base URL. */
  readonly otlpEndpoint?: string;
  /** Interval between two pushes of metrics. (milliseconds) */
  readonly otlpInterval: number;
  /** Timeout for a push of metrics, including its retries. (milliseconds) */
  readonly otlpTimeout: number;
  /** Compression of pushed metrics; zstd needs Node 22.15. */
  readonly otlpCompression: 'none' | 'gzip' | 'zstd';
  /** Headers of each push, as Name=value pairs. */
  readonly otlpHeaders: readonly string[];
  /** Do not verify the TLS certificate of the OTLP endpoint. */
  readonly otlpTlsSkipVerify: boolean;
  /** OTLP endpoint for traces, which are pushed as protobuf; /v1/traces is appended to a base URL. Without it, tracing is off. Headers, timeout and certificate check are the same as for metrics. */
  readonly otlpTracesEndpoint?: string;
  /** Share of requests without a traceparent header that are traced; for other requests the traceparent decides. (ratio) */
  readonly otlpTracesSampleRatio: number;
  /** Value of service.name on pushed metrics. */
  readonly otelServiceName: string;
  /** Value of service.namespace on pushed metrics. */
  readonly otelServiceNamespace?: string;
  /** Value of service.instance.id on pushed metrics. */
  readonly otelServiceInstanceId?: string;
  /** Value of deployment.environment.name on pushed metrics. */
  readonly deploymentEnvironment?: string;
}

/** Query analytics, profiling and cache flush for operators. */
export interface AdminOptions {
  /** Serve /debug/queries. */
  readonly enableQueryAnalytics: boolean;
  /** Serve profiles under /debug/pprof/. */
  readonly enablePprof: boolean;
}

/** Address of VictoriaLogs, how the proxy connects to it, and limits that protect it. */
export interface BackendOptions
  extends Pick<SharedOptions, 'compression' | 'hidesAddresses' | 'tlsSkipVerify' | 'forwardAuthorization'
    | 'forwardHeaders' | 'forwardCookies' | 'maxConcurrent' | 'maxBufferedResponseBytes'
    | 'maxRowBytes' | 'breakerFailThreshold' | 'breakerOpenDuration' | 'breakerWindowDuration'
    | 'partialResponses'> {
  /** Address of VictoriaLogs. */
  readonly url: string;
  /**
   * Addresses of the metrics of the backend's processes, such as the selectors and storage nodes of a cluster; an address without a path means its /metrics. Empty means the backend's own metrics.
   *
   * @maxItems 100
   */
  readonly metricsUrl: readonly string[];
  /** Timeout for a call to the backend. (milliseconds) */
  readonly timeout: number;
  /** User and password for the backend, as user:password. */
  readonly basicAuth?: string;
  /** Show the full error texts of the backend to clients, including the queries and values in them. */
  readonly showsRawErrors: boolean;
  /** Oldest supported version of the backend. Older versions give wrong answers: before 1.32 substring filters silently find nothing, before 1.36 ranges include their end, before 1.39 a limit may not return the newest rows, before 1.45 statistics cannot be shifted. */
  readonly minVersion: string;
  /** Start even if the backend is older than -backend-min-version. */
  readonly allowUnsupportedVersion: boolean;
  /** Timeout for the check of the backend version at startup. (milliseconds) */
  readonly versionCheckTimeout: number;
  /** Refuse to start if the backend is unhealthy or too old, instead of logging a warning. */
  readonly versionStrict: boolean;
  /** Forward the client identity that a reverse proxy sets to the backend. */
  readonly trustProxyHeaders: boolean;
  /** Maximum number of heavy queries that run on the backend at once; 0 means no limit. (queries) */
  readonly maxConcurrentHeavyQueries: number;
  /** Time range above which a statistics query counts as heavy. (milliseconds) */
  readonly heavyQueryMinRange: number;
  /** Longest time that a heavy query waits in the queue before it is refused. (milliseconds) */
  readonly heavyQueryQueueWait: number;
  /** Maximum number of long label scans that run on the backend at once; 0 means no limit. (scans) */
  readonly maxConcurrentMetadataScans: number;
  /** Number of long label scans that may always run at once, even if the backend is under load. (scans) */
  readonly minConcurrentMetadataScans: number;
  /** Slowdown of a label scan, relative to one that runs alone, above which fewer scans run at once. (ratio) */
  readonly metadataScanLatencyTolerance: number;
  /** Share of the backend's memory that label scans leave free. (ratio) */
  readonly metadataScanMemoryHeadroom: number;
  /** Maximum number of statistics queries over time that run on the backend at once; 0 means 4. (queries) */
  readonly statsQueryRangeConcurrency: number;
  /** Shortest pause between two statistics queries of Logs Drilldown that use the same concurrency permit; 0 means no pause. (ms) */
  readonly statsQueryRangeInterQueryDelay: number;
}

/** Reads old data from a second backend. */
export interface ColdRouteOptions
  extends Pick<SharedOptions, 'compression' | 'hidesAddresses' | 'tlsSkipVerify' | 'maxConcurrent'
    | 'maxBufferedResponseBytes' | 'maxRowBytes' | 'breakerFailThreshold' | 'breakerOpenDuration'
    | 'breakerWindowDuration' | 'partialResponses'> {
  /** Send queries for old data to the cold backend. */
  readonly enabled: boolean;
  /** Address of the cold backend. */
  readonly backend?: string;
  /** Age above which data is read from the cold backend. (milliseconds) */
  readonly boundary: number;
  /** Time on both sides of the boundary in which rows may be in either backend or in both. Both are queried there, and each row counts once. (milliseconds) */
  readonly overlap: number;
  /** Interval at which the proxy reads the time range that the cold backend holds (`/manifest/range`). (milliseconds) */
  readonly manifestRefresh: number;
  /** Timeout for a call to the cold backend. (milliseconds) */
  readonly timeout: number;
  /** Show the full error texts of the backend to clients, including the queries and values in them. */
  readonly showsRawErrors: boolean;
}

/** Guarded deletion of logs. */
export interface DeleteOptions
  extends Pick<SharedOptions, 'diskCachePath' | 'forwardAuthorization' | 'forwardHeaders'
    | 'forwardCookies'> {
  /** Maximum time range of one deletion. (milliseconds) */
  readonly maxRange: number;
  /** First interval at which the proxy asks the backend whether a deletion has finished; later intervals grow up to ten times as long. (milliseconds) */
  readonly pollInterval: number;
  /** Longest time to wait for a deletion to finish. After that the proxy stops asking, and treats the deletion as finished once unconfirmedTime has passed. (milliseconds) */
  readonly followTime: number;
  /** Time that caches stay off for a deletion that the backend does not confirm as finished. (milliseconds) */
  readonly unconfirmedTime: number;
  /** Path of the patterns file. Without a disk cache, the proxy records running deletions in a file in the same folder. */
  readonly patternsPersistPath: string;
  /** Path of the label index snapshot. Without a disk cache and a patterns file, the proxy records running deletions in a file in the same folder. */
  readonly labelIndexPersistPath: string;
}

/** Generates sample logs of a few services: some history and live entries. */
export interface DemoDataOptions {
  /** Address of the backend that receives the sample logs. */
  readonly target: string;
  /** Time range of the sample history. (milliseconds) */
  readonly history: number;
  /** Average number of lines per second, in the history and live; 0 sends none. (lines/s) */
  readonly linesPerSecond: number;
  /** Random seed; the same seed gives the same sample logs. */
  readonly seed: number;
}

/** Answers field queries of Grafana Logs Drilldown that arrive together with one backend query. */
export interface DrilldownOptions
  extends Pick<SharedOptions, 'forwardAuthorization' | 'forwardHeaders' | 'forwardCookies'> {
  /** Time that a field query waits for others, so that one read of the rows answers them all; 0 turns batching off. (ms) */
  readonly burstWindow: number;
  /** Maximum number of fields in one batch; 1 turns batching off. (fields) */
  readonly burstMaxFields: number;
  /** Strategy of an earlier implementation of field batching. (ms) */
  readonly fieldBatchWindow: number;
  /** Limit of an earlier implementation of field batching. (fields) */
  readonly fieldBatchMaxFields: number;
  /** Limit on time buckets in an earlier implementation of field batching. (buckets) */
  readonly maxStatsBuckets: number;
}

/** A small in-process server that implements the VictoriaLogs API, for development. */
export interface EmbeddedBackendOptions {
  /** Address on which the embedded backend listens. */
  readonly listen: string;
  /** Maximum memory for stored rows; the backend refuses pushes above it. (bytes) */
  readonly maxBytes: number;
  /** Directory in which rows are stored, so that they survive a restart; if unset, rows are in memory only. */
  readonly dataPath?: string;
  /** Serve /-/faults, where tests can inject latency, errors, hangs and broken connections. */
  readonly faults: boolean;
}

/** Rate limit, concurrency limit and queue for incoming requests. */
export interface GuardOptions
  extends Pick<SharedOptions, 'maxConcurrent'> {
  /** Sustained requests per second per client (see rateLimitBy); 0 turns the limit off. All users of one Grafana server share its address. (requests/s) */
  readonly rateLimitPerSecond: number;
  /** Burst of requests that one client may send above the sustained rate; 0 turns the limit off. (requests) */
  readonly rateLimitBurst: number;
  /** Key of the rate limit: the remote address, or the tenant. Use tenant if one Grafana server serves several tenants and an authenticating proxy sets X-Scope-OrgID; a client that can choose its id can avoid the limit. */
  readonly rateLimitBy: 'address' | 'tenant';
  /** Longest time that a request waits in the queue. While requests are being refused, clients that already have their fair share wait 10ms at most. (milliseconds) */
  readonly maxConcurrentQueueWait: number;
}

/** Caches patterns of past time ranges, keeps them across restarts and prefetches them. */
export interface KeptPatternsOptions
  extends Pick<SharedOptions, 'cacheMaxBytes' | 'recentTailRefreshWindow' | 'forwardAuthorization'
    | 'forwardHeaders' | 'forwardCookies'> {
  /** Prefetch the patterns of past log queries before a client requests them. */
  readonly autodetectFromQueries: boolean;
  /** Snapshot file that keeps patterns across restarts; empty turns it off. */
  readonly persistPath: string;
  /** Interval at which the snapshot file is written if there are changes. (milliseconds) */
  readonly persistInterval: number;
  /** Age of the snapshot file above which the replica asks its peers for newer data at startup. (milliseconds) */
  readonly startupStaleThreshold: number;
  /** Timeout for asking peers at startup. (milliseconds) */
  readonly startupPeerWarmTimeout: number;
}

/** In-memory index of label values for fast browsing. */
export interface LabelIndexOptions
  extends Pick<SharedOptions, 'forwardAuthorization' | 'forwardHeaders' | 'forwardCookies'> {
  /** Serve label values from the index if the request has no query. */
  readonly enabled: boolean;
  /** Number of values returned to a request without a limit. (values) */
  readonly hotLimit: number;
  /** Maximum number of values per tenant and label. (values) */
  readonly maxEntries: number;
  /** Maximum number of labels in the index, for all tenants together; the least recently used labels are evicted first. (labels) */
  readonly maxLabels: number;
  /** Maximum memory of the index, in addition to -cache-max-bytes. (bytes) */
  readonly maxBytes: number;
  /** Snapshot file that keeps the index across restarts; empty turns it off. */
  readonly persistPath: string;
  /** Interval at which the snapshot file is written. (milliseconds) */
  readonly persistInterval: number;
  /** Age of the snapshot file above which the replica asks its peers for newer data at startup. (milliseconds) */
  readonly startupStaleThreshold: number;
  /** Timeout for asking peers at startup. (milliseconds) */
  readonly startupPeerWarmTimeout: number;
}

/** Reads data from before a move to VictoriaLogs from the old Loki. */
export interface LokiHistoryOptions
  extends Pick<SharedOptions, 'hidesAddresses' | 'tlsSkipVerify' | 'breakerFailThreshold'
    | 'breakerOpenDuration' | 'breakerWindowDuration' | 'lineThreads' | 'lineTimeout'
    | 'partialResponses'> {
  /** Address of the old Loki, without /loki/api/v1; user and password in it are sent as basic authentication. Empty turns the stage off. */
  readonly url?: string;
  /** Time of the move, such as 2026-11-01T00:00:00Z: older data is read from the old Loki, data from this time on from the backend. */
  readonly until?: string;
  /** Timeout for a call to the old Loki. (milliseconds) */
  readonly timeout: number;
  /** Maximum size of an answer of the old Loki, which is buffered in memory. (bytes) */
  readonly maxAnswerBytes: number;
  /** Maximum number of concurrent calls to the old Loki; further ones wait. (requests) */
  readonly maxConcurrent: number;
  /** Maximum number of lines that one range aggregation reads because its ranges reach over the time of the move. (lines) */
  readonly maxLines: number;
  /** Number of lines that one call requests for these ranges; at most max_entries_limit_per_query of the old Loki. (lines) */
  readonly linesPerCall: number;
  /** Show the full error texts of the old Loki to clients, including the queries and values in them. */
  readonly showsRawErrors: boolean;
}

/** Sends a share of requests to a second Loki API as well, and compares the answers. */
export interface MirrorOptions {
  /** Address of the second Loki API, without /loki/api/v1; user and password in it are sent as basic authentication. Empty turns mirroring off. */
  readonly url?: string;
  /** Share of requests that are mirrored, in percent. (percent) */
  readonly percent: number;
  /** Maximum number of mirrored requests per second; further ones are not mirrored. (requests/s) */
  readonly rate: number;
  /** Maximum number of mirrored requests that run at once; further ones are not mirrored. (requests) */
  readonly maxConcurrent: number;
  /** Timeout for an answer of the second Loki API. (milliseconds) */
  readonly timeout: number;
  /** Maximum size of an answer that is compared; larger ones are counted as skipped. (bytes) */
  readonly maxAnswerBytes: number;
  /** Number of latest differences that the admin API shows. (differences) */
  readonly keep: number;
}

/** Finds patterns in log lines. */
export interface PatternsOptions {
  /** Serve the patterns endpoint; false answers with an empty list. */
  readonly enabled: boolean;
  /** Patterns that are put first in every answer; as a flag, a JSON array or one per line. */
  readonly custom: readonly string[];
  /** File of patterns that are put first in every answer: a JSON array, or one per line with # comments. */
  readonly customFile?: string;
  /** Maximum number of rows that one request reads. (rows) */
  readonly maxBackendRows: number;
  /** Maximum number of rows that the second pass over windows with small samples reads. (rows) */
  readonly secondPassMaxRows: number;
  /** Maximum number of windows that get a second pass. (windows) */
  readonly secondPassMaxWindows: number;
}

/** Caches backend answers in memory, on disk and across replicas, and merges identical in-flight calls. */
export interface PeerCacheOptions
  extends Pick<SharedOptions, 'cacheDisabled' | 'cacheMax' | 'cacheMaxBytes' | 'labelsCacheTtl'
    | 'maxMetadataCacheFreshness' | 'recentTailRefreshEnabled' | 'recentTailRefreshWindow'
    | 'recentTailRefreshMaxStaleness' | 'forwardAuthorization' | 'forwardHeaders' | 'forwardCookies'
    | 'diskCachePath' | 'diskCacheMinTtl' | 'tlsCertFile' | 'tlsKeyFile' | 'tlsClientCaFile'
    | 'peerWriteThroughMinTtl'> {
  /** Default TTL of a cached answer, for endpoints without their own TTL. (milliseconds) */
  readonly cacheTtl: number;
  /** True if the response cache (tier0) is on and uses its share of the memory budget. */
  readonly compatCacheEnabled: boolean;
  /** Share of the budget that the response cache (tier0) uses. (percent) */
  readonly compatCacheMaxPercent: number;
  /** Number of time buckets that one label request lists in parallel; 0 turns the bucketed inventory off. (listings) */
  readonly metadataInventoryParallelism: number;
  /** Time after its expiry that an answer may be served stale while the backend is unreachable or failing; 0 turns this off. (milliseconds) */
  readonly staleIfError: number;
  /** Do not merge identical in-flight calls: send each to the backend. */
  readonly coalescerDisabled: boolean;
  /** Compress entries of the disk cache. */
  readonly diskCacheCompress: boolean;
  /** Number of buffered entries that triggers a write to disk. (entries) */
  readonly diskCacheFlushSize: number;
  /** Longest time that entries stay in the write buffer. (milliseconds) */
  readonly diskCacheFlushInterval: number;
  /** Maximum size of the disk cache; 0 means no limit. (bytes) */
  readonly diskCacheMaxBytes: number;
  /** Valkey or Redis server that replicas share as a cache behind memory and disk, instead of peers: redis[s]://[[user]:password@]host[:port][/database]. */
  readonly sharedCacheUrl?: string;
  /** Prefix of all keys in the shared cache. Proxies that serve different data need different prefixes. */
  readonly sharedCachePrefix: string;
  /** Secret that signs answers in the shared cache; the same on all replicas. Without it, anyone who can write to the shared cache can forge answers. */
  readonly sharedCacheSecret?: string;
  /** Address (host:port) at which the other replicas reach this one. */
  readonly peerSelf?: string;
  /** Availability zone of this replica; peers in the same zone are asked first. */
  readonly peerSelfAz: string;
  /** Discovery of the other replicas; together with -peer-self it turns the peer cache on. */
  readonly peerDiscovery?: 'dns' | 'srv' | 'http' | 'static';
  /** Interval of peer discovery. (milliseconds) */
  readonly peerDiscoveryInterval: number;
  /** DNS name that resolves to the addresses of the replicas, all on port 3100. */
  readonly peerDns?: string;
  /** SRV name _service._proto.domain whose records list the replicas. */
  readonly peerSrv?: string;
  /** Addresses of the DNS servers used for discovery, with a port unless it is 53; the default is the system's DNS servers. */
  readonly peerDnsServers: readonly string[];
  /** URL that returns the list of replicas. */
  readonly peerHttpUrl?: string;
  /** List of replicas, each as host:port. */
  readonly peerStatic: readonly string[];
  /** Shared secret with which replicas authenticate to each other; the same on all replicas. */
  readonly peerAuthToken?: string;
  /** Trust replicas by their IP address instead of a secret. */
  readonly peerInsecureIpAllowlist: boolean;
  /** Timeout for a call to another replica. (milliseconds) */
  readonly peerTimeout: number;
  /** Longest time that a request waits for another replica before it asks the backend. A replica that usually answers faster gets twice its usual time, but at least a tenth of this value. (milliseconds) */
  readonly peerPatience: number;
  /** Push answers to the replica that owns their cache key. */
  readonly peerWriteThrough: boolean;
  /** Prefetch the hot cache keys of other replicas before a client requests them here. */
  readonly peerHotReadAheadEnabled: boolean;
  /** Interval between two prefetch rounds. (milliseconds) */
  readonly peerHotReadAheadInterval: number;
  /** Random jitter added to the prefetch interval. (milliseconds) */
  readonly peerHotReadAheadJitter: number;
  /** Number of hot keys that a replica reports to the others. (keys) */
  readonly peerHotReadAheadTopN: number;
  /** Maximum number of keys prefetched in one round. (keys) */
  readonly peerHotReadAheadMaxKeysPerInterval: number;
  /** Maximum number of bytes prefetched in one round. (bytes) */
  readonly peerHotReadAheadMaxBytesPerInterval: number;
  /** Number of keys prefetched in parallel. */
  readonly peerHotReadAheadMaxConcurrency: number;
  /** Minimum remaining TTL of an answer that is prefetched. (milliseconds) */
  readonly peerHotReadAheadMinTtl: number;
  /** Maximum size of an answer that is prefetched. (bytes) */
  readonly peerHotReadAheadMaxObjectBytes: number;
  /** Initial share of a prefetch round that one tenant may use. (percent) */
  readonly peerHotReadAheadTenantFairShare: number;
  /** Pause in prefetching from a replica after a failure, multiplied by the number of consecutive failures, up to four. (milliseconds) */
  readonly peerHotReadAheadErrorBackoff: number;
}

/** The read routes of Loki. */
export type ReferenceApiOptions = Readonly<Record<never, never>>;

/** Evaluates the stages that the backend cannot, and converts backend rows to Loki's response format. */
export interface ResponseShapeOptions
  extends Pick<SharedOptions, 'lineThreads' | 'lineTimeout'> {
  /** Fields that are extracted from log lines by a regular expression and shown as parsed labels; the first group or the whole match is the value. A JSON array of objects with name, matcherRegex and, as in Grafana, url, urlDisplayLabel and datasourceUid. */
  readonly derivedFields: {
    readonly name: string;
    readonly matcherRegex: string;
    readonly url?: string;
    readonly urlDisplayLabel?: string;
    readonly datasourceUid?: string;
  }[];
  /** Maximum number of lines scanned for fields. (lines) */
  readonly detectedFieldsMaxScanLines: number;
  /** Timeout for the scan of lines for fields. When it is reached, the answer has the fields of the lines read so far and a warning, or is an error if no line was read. 0 means no limit. (milliseconds) */
  readonly drilldownScanTimeout: number;
  /** Counting of duplicate rows, pushed more than once, in metrics, volumes and statistics: once counts a duplicate once, as Loki does; stored counts every stored row, and needs no search for duplicates. Lists of log lines never show duplicates. */
  readonly repeatedRows: 'once' | 'stored';
  /** Snapshot file that keeps facts about time ranges (duplicate rows, spellings of levels) across restarts, so that the first metric queries are as fast as later ones. The default with -data-dir is facts.json in that directory; empty turns it off. */
  readonly factsPersistPath: string;
  /** Number of threads that count the rows of large metric queries, so that other requests do not wait; auto means one less than the number of CPUs, but at least one. With 0 the event loop counts all rows. They start on demand. (threads) */
  readonly rowThreads: string | number;
  /** Number of rows in the selected streams and time range from which on a metric query uses these threads; the event loop counts fewer rows faster. (rows) */
  readonly rowThreadsMinRows: number;
}

/** Read-only API for rules and alerts. */
export interface RulesOptions
  extends Pick<SharedOptions, 'hidesAddresses'> {
  /** URL of the service that evaluates rules. */
  readonly rulerBackend?: string;
  /** URL of the service that reports alerts; unset means the rules service. */
  readonly alertsBackend?: string;
  /** Timeout for a call to the rules or alerts service. (milliseconds) */
  readonly timeout: number;
}

/** Serves readiness, liveness, build information and metrics, and refuses writes. */
export interface StatusOptions {
  /** Loki version that the build information reports; clients choose features by it. */
  readonly version: string;
}

/** Live tail over a WebSocket. */
export interface TailOptions {
  /** Source of new lines. synthetic and auto poll the backend. native also follows the backend's own tail: it polls less often while there are no new lines, and ends when the backend's tail ends. */
  readonly mode: 'auto' | 'native' | 'synthetic';
  /** Browser origins that may open a tail, such as https://grafana.example.com; * allows all. Requests without an Origin header, such as Grafana's own, are always allowed. */
  readonly allowedOrigins: readonly string[];
  /** Maximum duration of a tail; clients reopen it when it is closed. 0 means no limit. (milliseconds) */
  readonly maxDuration: number;
  /** Maximum number of open tails per worker; 0 means no limit. */
  readonly maxOpen: number;
  /** Interval between two polls for new lines, by the proxy and by the backend in its own tail. (milliseconds) */
  readonly refreshInterval: number;
  /** Time that a line waits for older lines of its stream, so that lines are sent in order. Set it to the longest time between the backend accepting a row and showing it. 0 sends lines as they are found, in any order. (milliseconds) */
  readonly reorderWindow: number;
  /** Maximum delay between the timestamp of a line and its arrival at the backend for the line to be shown. (milliseconds) */
  readonly lookback: number;
  /** Number of lines that each tail remembers to avoid duplicates. With more lines than this within the lookback, the lookback gets shorter. */
  readonly dedupKeys: number;
  /** Timeout for the backend to start its own tail. (milliseconds) */
  readonly nativeOpenTimeout: number;
  /** Time that a tail waits for a slow client before it drops lines and reports them to the client. (milliseconds) */
  readonly slowGrace: number;
  /** Time after which a client that reads nothing although entries are waiting is disconnected. (milliseconds) */
  readonly stallTimeout: number;
}

/** Maps X-Scope-OrgID to tenants of the backend, and so decides which data a request may read. */
export interface TenancyOptions {
  /** Backend account and project per X-Scope-OrgID, as a JSON object, for example {"team-a":{"account_id":"1","project_id":"0"}}. */
  readonly tenantMap: {
    readonly [k: string]: {
      readonly account_id: string | number;
      readonly project_id?: string | number;
    };
  };
  /** YAML or JSON file with the same mapping; its entries override the inline ones. */
  readonly tenantMapFile?: string;
  /** Interval at which the tenant map file is checked for changes; 0 reloads it on SIGHUP only. (milliseconds) */
  readonly tenantMapReloadInterval: number;
  /** Stream field that must equal X-Scope-OrgID; for tenants that share one backend account. */
  readonly tenantLabel?: string;
  /** Allow X-Scope-OrgID: * to read all data if tenants are distinguished by a label. */
  readonly allowGlobal: boolean;
  /** Treat a numeric X-Scope-OrgID that is not in the map as the backend account with that number. With a tenant map, this lets a client read the accounts of other tenants by their number; false makes such ids unknown. */
  readonly allowNumeric: boolean;
  /** Allow requests without X-Scope-OrgID, and the ids 0, fake, default and *, to read the backend's default account (0:0). False refuses requests without an id, and makes these ids unknown. The default is false with -tenant.unknown=reject and true otherwise. Ids in the tenant map, and * with -tenant.allow-global, stay allowed. */
  readonly allowDefault?: boolean;
  /** Treat an X-Scope-OrgID that is neither mapped nor numeric as a tenant without data, as Loki does, or refuse it with 403. */
  readonly unknownTenant: 'empty' | 'reject';
  /** Refuse requests without X-Scope-OrgID. */
  readonly requireTenantHeader: boolean;
  /** Refuse requests without X-Scope-OrgID; this is Loki's name for -require-tenant-header. */
  readonly authEnabled: boolean;
  /** Forward X-Scope-OrgID to the backend for ids that are not in the map. */
  readonly forwardTenantHeader: boolean;
}

/** Serves the limits that apply to the client's tenant. */
export interface TenantLimitsOptions {
  /** True if the tenant limits endpoint reports patterns as available. */
  readonly patternsEnabled: boolean;
}

/** Response cache (tier0): encoded responses that are ready to send. */
export interface Tier0Options
  extends Pick<SharedOptions, 'cacheMaxBytes' | 'cacheMax' | 'labelsCacheTtl' | 'diskCacheMinTtl'
    | 'peerWriteThroughMinTtl' | 'maxMetadataCacheFreshness' | 'recentTailRefreshEnabled'
    | 'recentTailRefreshWindow' | 'recentTailRefreshMaxStaleness' | 'forwardAuthorization'
    | 'forwardHeaders' | 'forwardCookies' | 'streamResponse'> {
  /** Cache the responses to safe GET requests. */
  readonly enabled: boolean;
  /** Share of the cache budget for this cache; 0 turns it off. (percent) */
  readonly maxPercent: number;
  /** TTL of responses to queries. (milliseconds) */
  readonly queryTtl: number;
}

/** Plans LogQL queries: which parts the backend evaluates and which parts the proxy evaluates. */
export interface TranslateOptions {
  /** Let the backend filter lines and count entries where its result is exact. With off, the backend only selects streams and the proxy evaluates everything else; answers are the same. */
  readonly pushdown: 'on' | 'off';
  /** Semantics of regular expressions in line filters and label filters. loki: as Loki evaluates them, with its deviations (v=~"a.*" also keeps xab). exact: as written. Stream selectors are always exact. */
  readonly filters: 'loki' | 'exact';
  /** Answer to the first range query over many rows. exact waits until the rows are checked for duplicates and spellings of levels. prompt answers immediately from the backend's own count, lists its assumptions in a warning, and checks the rows in the background. Instant queries, ranges up to 15 minutes and queries over fewer rows than firstAnswersMaxRows are always exact. */
  readonly firstAnswers: 'exact' | 'prompt';
  /** Maximum number of rows that are checked while a client waits; with firstAnswers=prompt, the first answer over more rows uses assumptions. A row whose line must be searched for its level or parsed counts as four. (rows) */
  readonly firstAnswersMaxRows: number;
  /** Label the series of metric queries over parsed lines with the extracted labels, read from rows within the row limit. */
  readonly exactParserSeriesIdentity: boolean;
}

/** Serves the web page at /ui, with the loaded pipeline and a query editor. */
export interface UiOptions {
  /** Host names that the admin listener accepts, besides IP addresses and localhost, for the page and all its other routes. List only names that you control: anyone who can point a listed name at this machine can read the data through a user's browser. With an admin token there is no admin listener, and the token protects these routes. */
  readonly allowedHosts: readonly string[];
  /** Address of the Grafana in whose Explore the page opens queries, such as https://grafana.example.com. It needs the option grafanaDatasourceUid as well. */
  readonly grafanaUrl?: string;
  /** The uid of the Loki data source in Grafana that asks this proxy. */
  readonly grafanaDatasourceUid?: string;
}

/** Prefetches common answers before clients request them. */
export interface WarmersOptions
  extends Pick<SharedOptions, 'labelsCacheTtl'> {
  /** Refresh the common label listings (1h, 6h, 24h, 7d) in the background. */
  readonly labelsCacheWarm: boolean;
  /** Maximum random delay before the first warm-up, so that replicas do not all start at the same time. (milliseconds) */
  readonly warmupMaxJitter: number;
}

/** Splits long range queries into time windows, which are fetched in parallel, cached and merged. */
export interface WindowSplitOptions
  extends Pick<SharedOptions, 'partialResponses' | 'cacheMax' | 'cacheMaxBytes' | 'forwardAuthorization'
    | 'forwardHeaders' | 'forwardCookies' | 'cacheDisabled'> {
  /** Split long range queries into time windows. */
  readonly enabled: boolean;
  /** Length of a window. (milliseconds) */
  readonly splitInterval: number;
  /** Number of parallel reads of a metric query while adaptive parallelism is off. Log queries read adjacent missing windows in one call. */
  readonly maxParallel: number;
  /** Increase the parallel reads of metric queries while the backend is fast and healthy, and reduce them otherwise. */
  readonly adaptiveParallel: boolean;
  /** Minimum number of parallel reads of a metric query in adaptive mode. */
  readonly adaptiveMinParallel: number;
  /** Maximum number of parallel reads of a metric query in adaptive mode. */
  readonly adaptiveMaxParallel: number;
  /** Average latency per window below which adaptive mode increases the parallel reads of metric queries. (milliseconds) */
  readonly latencyTarget: number;
  /** Average latency per window above which adaptive mode reduces the parallel reads of metric queries. (milliseconds) */
  readonly latencyBackoff: number;
  /** Minimum time between two adjustments in adaptive mode, which applies to metric queries only. (milliseconds) */
  readonly adaptiveCooldown: number;
  /** Error rate above which adaptive mode reduces the parallel reads of metric queries. (ratio) */
  readonly errorBackoffThreshold: number;
  /** Windows that end within this time of now count as recent, because they may still change. (milliseconds) */
  readonly freshness: number;
  /** TTL of recent windows; 0 does not cache them. (milliseconds) */
  readonly recentCacheTtl: number;
  /** TTL of windows that no longer change. (milliseconds) */
  readonly historyCacheTtl: number;
  /** Maximum age of the line count that validates cached windows: a late line becomes visible after this time; 0 serves cached windows without this check. (milliseconds) */
  readonly historyRevalidate: number;
  /** Ask the backend first which windows contain data, and skip empty windows. */
  readonly prefilterIndexStats: boolean;
  /** Minimum number of windows for this first call. (windows) */
  readonly prefilterMinWindows: number;
  /** Read windows with many hits with less parallelism in metric queries. */
  readonly streamAwareBatching: boolean;
  /** Number of hits above which a window of a metric query counts as expensive. (hits) */
  readonly expensiveHitThreshold: number;
  /** Number of parallel reads of expensive windows of a metric query. */
  readonly expensiveMaxParallel: number;
  /** Align windows to multiples of their length, so that later queries find them in the cache. */
  readonly alignWindows: boolean;
  /** Timeout for one read of a window or of several adjacent windows; after a timeout, adjacent windows are read again one by one. 0 means no limit. (milliseconds) */
  readonly windowTimeout: number;
  /** Prefetch the windows before those of a repeated metric query in the background. */
  readonly backgroundWarm: boolean;
  /** Maximum number of windows prefetched after one query. (windows) */
  readonly backgroundWarmMaxWindows: number;
  /** True if the response cache (tier0) is on and uses its share of the memory budget. */
  readonly compatCacheEnabled: boolean;
  /** Share of the budget that the response cache (tier0) uses. (percent) */
  readonly compatCacheMaxPercent: number;
}
