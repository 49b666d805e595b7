/* Generated from schemas/*.schema.json by `npm run generate`; do not edit. */
/* Options as code gets them: defaults filled in, durations in milliseconds. */

/**
 * Listeners, TLS, HTTP bounds, compression and the shape of error bodies.
 */
export interface ServerOptions {
  /**
   * Address that clients such as Grafana connect to.
   */
  readonly listen: string;
  /**
   * Processes that serve together on the same addresses; auto means as many as there are processors. Rate limits and the cap of requests in flight hold for all of them together; memory for caches is per process. (processes)
   */
  readonly workers: string | number;
  /**
   * Address of the admin and debug routes; with an admin token they move to the main listener instead.
   */
  readonly adminListen: string;
  /**
   * Address that serves /metrics instead of the main listener.
   */
  readonly metricsListen?: string;
  /**
   * Token that admin and debug requests must carry as a bearer token or in X-Admin-Token.
   */
  readonly adminAuthToken?: string;
  /**
   * File that holds adminAuthToken, without the line break at its end; read at the start and at each reload.
   */
  readonly adminAuthTokenFile?: string;
  /**
   * PEM file of the server certificate; together with the key file it turns HTTPS on.
   */
  readonly tlsCertFile?: string;
  /**
   * PEM file of the private key that belongs to the server certificate.
   */
  readonly tlsKeyFile?: string;
  /**
   * PEM file of the authorities whose client certificates are trusted; the connection of a client that shows another one is cut after the handshake.
   */
  readonly tlsClientCaFile?: string;
  /**
   * Refuse connections that show no client certificate signed by a trusted authority.
   */
  readonly tlsRequireClientCert: boolean;
  /**
   * Host names, besides addresses and localhost, under which the main listener answers; empty means any. Against DNS rebinding: a web page whose host name resolves to this machine could otherwise read answers through a user's browser.
   */
  readonly httpAllowedHosts: readonly string[];
  /**
   * Host names, besides addresses and localhost, under which the admin listener answers.
   */
  readonly adminAllowedHosts: readonly string[];
  /**
   * Longest time a client may take to send a whole request; 0 means no bound. (milliseconds)
   */
  readonly httpReadTimeout: number;
  /**
   * Longest time a client may take to send the request headers; 0 means no bound. (milliseconds)
   */
  readonly httpReadHeaderTimeout: number;
  /**
   * Longest time from the end of a request to the end of its answer; 0 means no bound. (milliseconds)
   */
  readonly httpWriteTimeout: number;
  /**
   * Time after which an idle keep-alive connection is closed; 0 means no bound. (milliseconds)
   */
  readonly httpIdleTimeout: number;
  /**
   * Largest size of all request headers together. (bytes)
   */
  readonly httpMaxHeaderBytes: number;
  /**
   * Largest size of a request body. (bytes)
   */
  readonly httpMaxBodyBytes: number;
  /**
   * Age at which a keep-alive connection is asked to close, so that load spreads over replicas; 0 means never. (milliseconds)
   */
  readonly httpConnMaxAge: number;
  /**
   * Random time added to the age of a connection, so that they do not all close together. (milliseconds)
   */
  readonly httpConnMaxAgeJitter: number;
  /**
   * Requests after which a keep-alive connection is asked to close; 0 means never.
   */
  readonly httpConnMaxRequests: number;
  /**
   * Answer a GET request by its bytes alone when the same bytes were answered from the first cache before; false runs every stage for every request.
   */
  readonly httpFastLane: boolean;
  /**
   * Requests of one connection that may be unanswered at a time; one more is refused with 429 and is the last of its connection.
   */
  readonly httpConnMaxPipelined: number;
  /**
   * Age at which a connection is asked to close while this replica is overloaded. (milliseconds)
   */
  readonly httpConnOverloadMaxAge: number;
  /**
   * Compression of answers to clients that accept it; auto is the same as gzip.
   */
  readonly responseCompression: 'gzip' | 'auto' | 'none';
  /**
   * Answers smaller than this are not compressed. (bytes)
   */
  readonly responseCompressionMinBytes: number;
  /**
   * Older switch for compressed answers; false means none, unless -response-compression is auto.
   */
  readonly responseGzip: boolean;
  /**
   * Send log answers in chunks, as fast as the client takes them and without their length in front; turns the cache of final answers off for queries.
   */
  readonly streamResponse: boolean;
  /**
   * Repeat the error text in a field "message", which Grafana displays.
   */
  readonly errorResponseMessageField: boolean;
  /**
   * Longest time that running requests get to finish when the process is asked to stop. (milliseconds)
   */
  readonly drainTimeout: number;
  /**
   * How long the process goes on accepting connections after it was asked to stop, while /ready answers 503, so that balancers send requests elsewhere before it drains; a second signal ends the delay. (milliseconds)
   */
  readonly shutdownDelay: number;
  /**
   * Longest time after a reload for which requests and tails stay with a pipeline that differs from the one that serves; tails beyond it are closed and open again. (milliseconds)
   */
  readonly reloadDrainTimeout: number;
  /**
   * Folder for everything that the process writes: the sockets of workers, the files of options such as -disk-cache-path whose path is relative, and facts.json (-facts-persist-path). Without it sockets are in the temporary folder, and relative paths begin where the process runs.
   */
  readonly dataDir: string;
  /**
   * Longest time each plugin may take to start. (milliseconds)
   */
  readonly startTimeout: number;
  /**
   * Memory limit of a Go runtime.
   */
  readonly goMemLimit: string;
  /**
   * Memory limit of a Go runtime in percent of the container limit. (percent)
   */
  readonly goMemLimitPercent: number;
  /**
   * Garbage collection target of a Go runtime. (percent)
   */
  readonly goGcPercent: string;
}

/**
 * How label and field names of the backend look to clients, and how client names find them.
 */
export interface NamesOptions {
  /**
   * Show dotted backend names with underscores (and translate queries back), or as they are stored.
   */
  readonly labelStyle: 'underscores' | 'passthrough';
  /**
   * Show structured metadata and detected fields under underscore names, dotted names, or both.
   */
  readonly metadataFieldMode: 'translated' | 'native' | 'hybrid';
  /**
   * Fill the third element of log entries for clients that ask for categorized labels.
   */
  readonly emitStructuredMetadata: boolean;
  /**
   * Answer dotted names in queries with Loki's parse error, or translate them; auto rejects in the reference-compatible profile only.
   */
  readonly logqlDottedNames: 'auto' | 'reject' | 'accept';
  /**
   * Honour limit, offset and search on label endpoints; auto does so outside of the reference-compatible profile and with the indexed cache.
   */
  readonly labelBrowseExtensions: 'auto' | 'on' | 'off';
  /**
   * Whether the label-values index is on, which decides what auto means for the browse parameters.
   */
  readonly labelValuesIndexedCache: boolean;
  /**
   * Translate well-known OpenTelemetry attribute names between underscores and dots in backend queries.
   */
  readonly translateOtelAttributes: boolean;
  /**
   * Custom aliases: a JSON array of objects with vl_field (name in the backend) and loki_label (name for clients).
   */
  readonly fieldMapping: {
    readonly vl_field: string;
    readonly loki_label: string;
  }[];
  /**
   * Stream fields that are labels in every stream, including the streams of OpenTelemetry exporters. Fields that other options declare as labels are looked up in the stream index if they are listed here.
   */
  readonly streamFields: readonly string[];
  /**
   * Which stream fields are labels: all; those with legal label names and promoted OpenTelemetry attributes only; or auto, which is all but in streams of OpenTelemetry exporters (docs/loki-view.md).
   */
  readonly streamLabels: 'auto' | 'all' | 'promoted';
  /**
   * Further backend fields that are labels: listed, with values, selectable and targets of volumes; with dots or underscores.
   */
  readonly extraLabelFields: readonly string[];
  /**
   * OpenTelemetry resource attributes that Loki stores as labels rather than as structured metadata.
   */
  readonly promotedAttributes: readonly string[];
  /**
   * The same list for single tenants, by X-Scope-OrgID, where Loki was configured by tenant; replaces promotedAttributes.
   */
  readonly tenantPromotedAttributes: {
    readonly [k: string]: readonly string[];
  };
  /**
   * Text that the backend stores for rows without a message, when it was configured to another than its own default.
   */
  readonly backendDefaultMsgValue: string;
  /**
   * Look for a level inside the line when no level field is stored; false reads stored fields only.
   */
  readonly detectedLevelBodyScan: boolean;
}

/**
 * Limits of queries, for everybody and by tenant.
 */
export interface LimitsOptions {
  /**
   * Limit fields by X-Scope-OrgID, as a JSON object of objects, for example {"team-a":{"max_query_length":"90d"}}.
   */
  readonly tenantLimits: {
    readonly [k: string]: {
      readonly max_query_length?: string | number;
      readonly max_query_lookback?: string | number;
      readonly max_query_range?: string | number;
      readonly query_timeout?: string | number;
      readonly retention_period?: string | number;
      readonly max_query_series?: number;
      readonly max_entries_limit_per_query?: number;
      readonly volume_enabled?: boolean;
      readonly volume_max_series?: number;
      readonly label_values_max_response_bytes?: number | string;
      readonly max_query_bytes_read?: number | string;
      readonly [k: string]: unknown;
    };
  };
  /**
   * Limit fields that hold for every tenant, as a JSON object; durations may use d, w and y.
   */
  readonly tenantDefaultLimits: {
    readonly max_query_length?: string | number;
    readonly max_query_lookback?: string | number;
    readonly max_query_range?: string | number;
    readonly query_timeout?: string | number;
    readonly retention_period?: string | number;
    readonly max_query_series?: number;
    readonly max_entries_limit_per_query?: number;
    readonly volume_enabled?: boolean;
    readonly volume_max_series?: number;
    readonly label_values_max_response_bytes?: number | string;
    readonly max_query_bytes_read?: number | string;
    readonly [k: string]: unknown;
  };
  /**
   * Limit fields that the limits endpoints show; unset means the built-in list.
   */
  readonly tenantLimitsAllowPublish?: readonly string[];
  /**
   * Longest time range of a query of tenants that have no limit of their own; 0 means no limit. (milliseconds)
   */
  readonly defaultMaxQueryLength: number;
  /**
   * Longest query text; 0 means no limit. (bytes)
   */
  readonly maxQueryLengthBytes: number;
  /**
   * Log lines returned when a request names no limit; 100 is the default of Loki itself. (lines)
   */
  readonly maxLines: number;
  /**
   * Largest limit that a request may name, as in Loki itself; 0 means no cap. (lines)
   */
  readonly maxEntriesLimitPerQuery: number;
  /**
   * Most series that a metric query may return; 0 means 500. (series)
   */
  readonly maxStatsQuerySeries: number;
  /**
   * Most bytes of memory that one query may hold at a time, as they are estimated while it runs: series, values, lines, listings and the answer; 0 means no limit. (bytes)
   */
  readonly maxQueryMemory: number;
  /**
   * Most rows that one metric query may read when the backend cannot compute it and it is evaluated here. (rows)
   */
  readonly manualRangeMetricRowLimit: number;
  /**
   * Largest list of label values, past which the request fails. (bytes)
   */
  readonly labelValuesMaxResponseBytes: number;
  /**
   * Time range of label and series requests that name none; 0 means no bound. (milliseconds)
   */
  readonly metadataDefaultLookback: number;
  /**
   * Most tenants that one request may name. (tenants)
   */
  readonly multiTenantMaxFanout: number;
  /**
   * Largest merged answer to a request that names several tenants. (bytes)
   */
  readonly multiTenantMaxMergedResponseBytes: number;
  /**
   * Most memory that the operands of a binary metric expression may take. (bytes)
   */
  readonly binaryMetricMaxOperandBytes: number;
  /**
   * Most sample arrays that the operands of a binary metric expression may hold.
   */
  readonly binaryMetricMaxArrays: number;
  /**
   * Where instant queries may use approx_topk. loki: as in a Loki with default settings, which refuses it over queries that it divides into shards. exact: everywhere. It is evaluated as topk. Loki's own setting is -limits.shard_aggregations=approx_topk.
   */
  readonly approxTopk: 'loki' | 'exact';
  /**
   * Most time buckets that one answer may fill with zeros.
   */
  readonly maxZeroFillBuckets: number;
}

/**
 * Logs, metrics and where they are sent.
 */
export interface TelemetryOptions {
  /**
   * Least severe log record that is written.
   */
  readonly logLevel: 'debug' | 'info' | 'warn' | 'error';
  /**
   * Form of log records: json, or text with one readable line a record. Unless set it is text on a terminal and json elsewhere.
   */
  readonly logFormat?: 'json' | 'text';
  /**
   * Write one in this many access records of successful requests while no adaptive sampler runs; 0 and 1 write all.
   */
  readonly logRequestSampleRate: number;
  /**
   * Write log records in the background.
   */
  readonly logBuffered: boolean;
  /**
   * Time between summaries of requests. (milliseconds)
   */
  readonly logStatsInterval: number;
  /**
   * Requests per second above which summaries replace single access records; errors are always written. (requests/s)
   */
  readonly logRateThreshold: number;
  /**
   * Write queries to the log as they are, instead of a digest and a length.
   */
  readonly debugLogRawQueries: boolean;
  /**
   * Serve /metrics and the cache flush route.
   */
  readonly registerInstrumentation: boolean;
  /**
   * Scrapes of /metrics that may run at once; 0 means no bound.
   */
  readonly metricsMaxConcurrency: number;
  /**
   * Export metrics by tenant and by client.
   */
  readonly metricsExportSensitiveLabels: boolean;
  /**
   * Tenants that get metrics of their own; all others share one.
   */
  readonly metricsMaxTenants: number;
  /**
   * Clients that get metrics of their own; all others share one.
   */
  readonly metricsMaxClients: number;
  /**
   * Trust the user and address headers that a proxy in front sets.
   */
  readonly metricsTrustProxyHeaders: boolean;
  /**
   * Proc folder where figures of the process and its network are read.
   */
  readonly procRoot: string;
  /**
   * Proc folder where figures of the machine are read: processors, memory, pressure; unset means the same as -proc-root.
   */
  readonly hostProcRoot?: string;
  /**
   * Address that metrics are pushed to; a base address is completed to /v1/metrics.
   */
  readonly otlpEndpoint?: string;
  /**
   * Time between two pushes of metrics. (milliseconds)
   */
  readonly otlpInterval: number;
  /**
   * Longest time that a push of metrics may take, all its tries together. (milliseconds)
   */
  readonly otlpTimeout: number;
  /**
   * Compression of pushed metrics; zstd needs Node 22.15.
   */
  readonly otlpCompression: 'none' | 'gzip' | 'zstd';
  /**
   * Headers of a push, as Name=value pairs.
   */
  readonly otlpHeaders: readonly string[];
  /**
   * File that holds otlpHeaders, without the line break at its end; read at the start and at each reload.
   */
  readonly otlpHeadersFile?: string;
  /**
   * Do not verify the certificate of the address that metrics are pushed to.
   */
  readonly otlpTlsSkipVerify: boolean;
  /**
   * Address that traces are pushed to as protobuf; a base address is completed to /v1/traces. Without it there are none. Headers, time bound and certificate check are those of pushed metrics.
   */
  readonly otlpTracesEndpoint?: string;
  /**
   * Part of the requests that are traced, of those that come without a traceparent; others are traced when it says so. (ratio)
   */
  readonly otlpTracesSampleRatio: number;
  /**
   * Value of service.name on pushed metrics.
   */
  readonly otelServiceName: string;
  /**
   * Value of service.namespace on pushed metrics.
   */
  readonly otelServiceNamespace?: string;
  /**
   * Value of service.instance.id on pushed metrics.
   */
  readonly otelServiceInstanceId?: string;
  /**
   * Value of deployment.environment.name on pushed metrics.
   */
  readonly deploymentEnvironment?: string;
}

/**
 * Query analytics, profiling and cache flush for operators.
 */
export interface AdminOptions {
  /**
   * Serve /debug/queries.
   */
  readonly enableQueryAnalytics: boolean;
  /**
   * Serve profiles under /debug/pprof/.
   */
  readonly enablePprof: boolean;
}

/**
 * Where VictoriaLogs is, how it is reached and how it is protected.
 */
export interface BackendOptions {
  /**
   * Address of VictoriaLogs.
   */
  readonly url: string;
  /**
   * Where the metrics of the backend's processes are read, such as those of a cluster's selectors and storage nodes; an address without a path means its /metrics. Empty means those of the backend itself.
   *
   * @maxItems 100
   */
  readonly metricsUrl: readonly string[];
  /**
   * File that holds metricsUrl, without the line break at its end; read at the start and at each reload.
   */
  readonly metricsUrlFile?: string;
  /**
   * Longest time that a call to the backend may take. (milliseconds)
   */
  readonly timeout: number;
  /**
   * User and password for the backend, as user:password.
   */
  readonly basicAuth?: string;
  /**
   * File that holds basicAuth, without the line break at its end; read at the start and at each reload.
   */
  readonly basicAuthFile?: string;
  /**
   * Compression asked of the backend; auto asks for none on the same machine and for gzip elsewhere; zstd is asked for where Node has it (22.15), gzip elsewhere.
   */
  readonly compression: 'auto' | 'gzip' | 'zstd' | 'none';
  /**
   * Show error texts of the backend whole, with the queries and values in them.
   */
  readonly showsRawErrors: boolean;
  /**
   * Leave addresses, host names and file paths of the backend out of the error texts that clients see; the log has them.
   */
  readonly hidesAddresses: boolean;
  /**
   * Do not verify the certificate of the backend.
   */
  readonly tlsSkipVerify: boolean;
  /**
   * Oldest version of the backend that is supported. Before 1.32 substring filters silently find nothing, before 1.36 ranges include their end, before 1.39 a limit may not give the newest rows, before 1.45 statistics cannot be shifted: answers would be wrong.
   */
  readonly minVersion: string;
  /**
   * Start with a backend that is older than supported.
   */
  readonly allowUnsupportedVersion: boolean;
  /**
   * Longest time that checking the backend version may take at start. (milliseconds)
   */
  readonly versionCheckTimeout: number;
  /**
   * Refuse to start when the backend is not healthy or too old, instead of a warning.
   */
  readonly versionStrict: boolean;
  /**
   * Pass the Authorization header of the client on to the backend.
   */
  readonly forwardAuthorization: boolean;
  /**
   * Request headers that are passed on to the backend.
   */
  readonly forwardHeaders: readonly string[];
  /**
   * Cookies that are passed on to the backend; * means all.
   */
  readonly forwardCookies: readonly string[];
  /**
   * Calls to the backend that may run at once. (requests)
   */
  readonly maxConcurrent: number;
  /**
   * Largest backend answer that is held in memory as a whole. (bytes)
   */
  readonly maxBufferedResponseBytes: number;
  /**
   * Longest row that is taken from the backend, as it is sent; VictoriaLogs stores rows of up to 2 MB. (bytes)
   */
  readonly maxRowBytes: number;
  /**
   * Whether the client identity that a proxy in front sets is passed on to the backend.
   */
  readonly trustProxyHeaders: boolean;
  /**
   * Connection failures within the window that stop calls to the backend for a while. (failures)
   */
  readonly breakerFailThreshold: number;
  /**
   * Time without calls to the backend after too many failures. (milliseconds)
   */
  readonly breakerOpenDuration: number;
  /**
   * Time over which connection failures are counted. (milliseconds)
   */
  readonly breakerWindowDuration: number;
  /**
   * Heavy queries that may run on the backend at once; 0 means no bound. (queries)
   */
  readonly maxConcurrentHeavyQueries: number;
  /**
   * Time range from which statistics count as heavy. (milliseconds)
   */
  readonly heavyQueryMinRange: number;
  /**
   * Longest wait for a free place before a heavy query is refused. (milliseconds)
   */
  readonly heavyQueryQueueWait: number;
  /**
   * Most long label scans that may run on the backend at once; 0 means no bound. (scans)
   */
  readonly maxConcurrentMetadataScans: number;
  /**
   * Long label scans that may always run at once, whatever the backend looks like. (scans)
   */
  readonly minConcurrentMetadataScans: number;
  /**
   * How many times slower than alone a label scan may be before fewer run at once. (ratio)
   */
  readonly metadataScanLatencyTolerance: number;
  /**
   * Share of the backend memory that label scans leave free. (ratio)
   */
  readonly metadataScanMemoryHeadroom: number;
  /**
   * Statistics over time that may run on the backend at once; 0 means 4. (queries)
   */
  readonly statsQueryRangeConcurrency: number;
  /**
   * Shortest pause between two statistics over time of Logs Drilldown in one of their places; 0 means none. (ms)
   */
  readonly statsQueryRangeInterQueryDelay: number;
  /**
   * Answer without storage nodes that the backend, a cluster, cannot reach, and say so.
   */
  readonly partialResponses: boolean;
}

/**
 * Old data from a second backend.
 */
export interface ColdRouteOptions {
  /**
   * Send queries for old data to the cold backend.
   */
  readonly enabled: boolean;
  /**
   * Address of the cold backend.
   */
  readonly backend?: string;
  /**
   * Age from which data is asked of the cold backend. (milliseconds)
   */
  readonly boundary: number;
  /**
   * Time on both sides of the boundary in which rows may be in either backend or in both: both are asked, and each row counts once. (milliseconds)
   */
  readonly overlap: number;
  /**
   * Interval at which the contents of the cold backend are looked up (`/manifest/range`). (milliseconds)
   */
  readonly manifestRefresh: number;
  /**
   * Longest time that a request to the cold backend may take. (milliseconds)
   */
  readonly timeout: number;
  /**
   * Compression of answers that the cold backend is asked for; zstd is asked for where Node has it (22.15), gzip elsewhere.
   */
  readonly compression: 'auto' | 'gzip' | 'zstd' | 'none';
  /**
   * Show error texts of the backend whole, with the queries and values in them.
   */
  readonly showsRawErrors: boolean;
  /**
   * Leave addresses, host names and file paths of the backend out of the error texts that clients see; the log has them.
   */
  readonly hidesAddresses: boolean;
  /**
   * Accept any certificate of the cold backend.
   */
  readonly tlsSkipVerify: boolean;
  /**
   * Calls to the cold backend that may run at once. (requests)
   */
  readonly maxConcurrent: number;
  /**
   * Most bytes of an answer of the cold backend that is held as a whole. (bytes)
   */
  readonly maxBufferedResponseBytes: number;
  /**
   * Most bytes of one row of the cold backend. (bytes)
   */
  readonly maxRowBytes: number;
  /**
   * Failures of the cold backend after which its own circuit breaker opens. (failures)
   */
  readonly breakerFailThreshold: number;
  /**
   * Time without calls to the cold backend after too many failures. (milliseconds)
   */
  readonly breakerOpenDuration: number;
  /**
   * Time in which failures of the cold backend are counted. (milliseconds)
   */
  readonly breakerWindowDuration: number;
  /**
   * Answer without the cold backend when it cannot be read, and say so.
   */
  readonly partialResponses: boolean;
}

/**
 * Guarded deletion of logs.
 */
export interface DeleteOptions {
  /**
   * Longest time range that one deletion may cover. (milliseconds)
   */
  readonly maxRange: number;
  /**
   * The first interval at which the backend is asked whether a deletion has ended; later intervals grow to ten times as much. (milliseconds)
   */
  readonly pollInterval: number;
  /**
   * Longest time to wait for a deletion to end. After that the proxy stops asking, and treats the deletion as ended once unconfirmedTime has passed. (milliseconds)
   */
  readonly followTime: number;
  /**
   * How long caches stay off for a deletion whose end the backend does not confirm. (milliseconds)
   */
  readonly unconfirmedTime: number;
  /**
   * Running deletions are recorded in a file beside this one, so that a restarted process still knows them.
   */
  readonly diskCachePath: string;
  /**
   * Running deletions are recorded beside this file if there is no disk cache.
   */
  readonly patternsPersistPath: string;
  /**
   * Running deletions are recorded beside this file if there is neither a disk cache nor a patterns file.
   */
  readonly labelIndexPersistPath: string;
  /**
   * Whether the Authorization header is passed on: the backend may then choose by it which tenant's rows a deletion touches.
   */
  readonly forwardAuthorization: boolean;
  /**
   * Headers that are passed on, by which the backend may choose as well.
   */
  readonly forwardHeaders: readonly string[];
  /**
   * Cookies that are passed on, by which the backend may choose as well.
   */
  readonly forwardCookies: readonly string[];
}

/**
 * Sample logs of a few services: some history and live entries.
 */
export interface DemoDataOptions {
  /**
   * Backend that the sample logs are pushed to.
   */
  readonly target: string;
  /**
   * How far back the first sample logs reach. (milliseconds)
   */
  readonly history: number;
  /**
   * Lines per second on average, of history and of live entries; 0 sends none. (lines/s)
   */
  readonly linesPerSecond: number;
  /**
   * Seed of the random numbers, so that a demo can be repeated.
   */
  readonly seed: number;
}

/**
 * Field queries of Grafana Logs Drilldown that come close together.
 */
export interface DrilldownOptions {
  /**
   * Time over which counts of single fields are gathered into one reading of their rows; 0 gathers none. (ms)
   */
  readonly burstWindow: number;
  /**
   * Most fields in one gathered reading; 1 gathers none. (fields)
   */
  readonly burstMaxFields: number;
  /**
   * Older way to gather field counts. (ms)
   */
  readonly fieldBatchWindow: number;
  /**
   * Older bound of gathered field counts. (fields)
   */
  readonly fieldBatchMaxFields: number;
  /**
   * Older bound of time buckets. (buckets)
   */
  readonly maxStatsBuckets: number;
  /**
   * Whether answers depend on the Authorization header, because it is passed on.
   */
  readonly forwardAuthorization: boolean;
  /**
   * Request headers that answers depend on, because they are passed on.
   */
  readonly forwardHeaders: readonly string[];
  /**
   * Cookies that answers depend on, because they are passed on.
   */
  readonly forwardCookies: readonly string[];
}

/**
 * A small in-process server that speaks the protocol of VictoriaLogs, for development.
 */
export interface EmbeddedBackendOptions {
  /**
   * Address that the embedded backend serves.
   */
  readonly listen: string;
  /**
   * Most memory that stored rows may take, past which pushes are refused. (bytes)
   */
  readonly maxBytes: number;
  /**
   * Folder that keeps rows over a restart; unset keeps them in memory only.
   */
  readonly dataPath?: string;
  /**
   * Serves /-/faults, where tests and trials ask for latency, errors, hangs and cut connections.
   */
  readonly faults: boolean;
}

/**
 * Decides whether a request may run now.
 */
export interface GuardOptions {
  /**
   * Requests per second that one client (see rateLimitBy) may send in the long run; 0 turns the limit off. A Grafana server is one address, with all its users. (requests/s)
   */
  readonly rateLimitPerSecond: number;
  /**
   * Requests that one client may send at once before the rate counts; 0 turns the limit off. (requests)
   */
  readonly rateLimitBurst: number;
  /**
   * What the rate limit counts requests by: the remote address, or the tenant. Use tenant where a Grafana server serves several tenants and an authenticating proxy sets X-Scope-OrgID: whoever chooses the id chooses the bucket.
   */
  readonly rateLimitBy: 'address' | 'tenant';
  /**
   * Requests that this replica works on at once or keeps waiting for their turn; more are refused; 0 means no cap. (requests)
   */
  readonly maxConcurrent: number;
  /**
   * Longest wait of a request for its turn when more came than can run at once. Once requests are refused, who has no less than its share waits 10ms. (milliseconds)
   */
  readonly maxConcurrentQueueWait: number;
}

/**
 * Patterns of the past, kept over a restart and found ahead of time.
 */
export interface KeptPatternsOptions {
  /**
   * Find the patterns of what log queries of the past select before somebody asks for them.
   */
  readonly autodetectFromQueries: boolean;
  /**
   * File that keeps the patterns of the past over a restart; empty keeps none.
   */
  readonly persistPath: string;
  /**
   * Time between two writes of that file; without news it is not written. (milliseconds)
   */
  readonly persistInterval: number;
  /**
   * Age of the file above which peers are asked at start. (milliseconds)
   */
  readonly startupStaleThreshold: number;
  /**
   * Longest time that asking peers may take at start. (milliseconds)
   */
  readonly startupPeerWarmTimeout: number;
  /**
   * Cache budget; an eighth as much again is for patterns. (bytes)
   */
  readonly cacheMaxBytes: number;
  /**
   * How close to now a request must end to count as recent: its patterns may still change. (milliseconds)
   */
  readonly recentTailRefreshWindow: number;
  /**
   * Whether answers depend on the Authorization header, because it is passed on.
   */
  readonly forwardAuthorization: boolean;
  /**
   * Request headers that answers depend on, because they are passed on.
   */
  readonly forwardHeaders: readonly string[];
  /**
   * Cookies that answers depend on, because they are passed on.
   */
  readonly forwardCookies: readonly string[];
}

/**
 * Index of label values for quick browsing.
 */
export interface LabelIndexOptions {
  /**
   * Serve label values from an index when no query narrows them.
   */
  readonly enabled: boolean;
  /**
   * Values that a browse without a limit gets. (values)
   */
  readonly hotLimit: number;
  /**
   * Most values kept by tenant and label. (values)
   */
  readonly maxEntries: number;
  /**
   * Most labels kept, of all tenants together; those browsed the longest ago go first. (labels)
   */
  readonly maxLabels: number;
  /**
   * Most memory of all labels together, beside -cache-max-bytes. (bytes)
   */
  readonly maxBytes: number;
  /**
   * File that keeps the index over a restart; empty keeps none.
   */
  readonly persistPath: string;
  /**
   * Time between two writes of that file. (milliseconds)
   */
  readonly persistInterval: number;
  /**
   * Age of the file above which peers are asked at start. (milliseconds)
   */
  readonly startupStaleThreshold: number;
  /**
   * Longest time that asking peers may take at start. (milliseconds)
   */
  readonly startupPeerWarmTimeout: number;
  /**
   * Whether answers depend on the Authorization header, because it is passed on.
   */
  readonly forwardAuthorization: boolean;
  /**
   * Request headers that answers depend on, because they are passed on.
   */
  readonly forwardHeaders: readonly string[];
  /**
   * Cookies that answers depend on, because they are passed on.
   */
  readonly forwardCookies: readonly string[];
}

/**
 * Recurring shapes of log lines.
 */
export interface PatternsOptions {
  /**
   * Serve the patterns endpoint; off it answers with an empty list.
   */
  readonly enabled: boolean;
  /**
   * Patterns that every answer begins with; as a flag a JSON array or one per line.
   */
  readonly custom: readonly string[];
  /**
   * File of such patterns: a JSON array, or one per line with # comments.
   */
  readonly customFile?: string;
  /**
   * Most rows that one request reads. (rows)
   */
  readonly maxBackendRows: number;
  /**
   * Most rows that the second pass over windows with small samples reads. (rows)
   */
  readonly secondPassMaxRows: number;
  /**
   * Most windows that get a second pass. (windows)
   */
  readonly secondPassMaxWindows: number;
}

/**
 * Caches answers of the backend in memory, on disk and in peers; identical calls in flight share one.
 */
export interface PeerCacheOptions {
  /**
   * Turn the memory cache off, and the disk cache with it.
   */
  readonly cacheDisabled: boolean;
  /**
   * Time that an answer is kept when its endpoint has no rule of its own. (milliseconds)
   */
  readonly cacheTtl: number;
  /**
   * Most answers in the memory cache. (entries)
   */
  readonly cacheMax: number;
  /**
   * Most bytes in the memory cache. (bytes)
   */
  readonly cacheMaxBytes: number;
  /**
   * Whether the cache of finished answers takes its share of the budget.
   */
  readonly compatCacheEnabled: boolean;
  /**
   * Share of the budget that the cache of finished answers takes. (percent)
   */
  readonly compatCacheMaxPercent: number;
  /**
   * Time that label names and values are kept; 0 means 5m, more for longer ranges. (milliseconds)
   */
  readonly labelsCacheTtl: number;
  /**
   * Label and series requests that end within this time of now are refreshed once a little old; 0 keeps them like all others. (milliseconds)
   */
  readonly maxMetadataCacheFreshness: number;
  /**
   * Time buckets that one label request lists at once; 0 turns the bucketed inventory off. (listings)
   */
  readonly metadataInventoryParallelism: number;
  /**
   * How long after it has expired an answer may be served while the backend cannot be reached or fails; 0 turns this off. (milliseconds)
   */
  readonly staleIfError: number;
  /**
   * Let identical calls in flight each go to the backend.
   */
  readonly coalescerDisabled: boolean;
  /**
   * Ask again for queries that reach close to now once their answers are a little old; labels and series follow -max-metadata-cache-freshness.
   */
  readonly recentTailRefreshEnabled: boolean;
  /**
   * How close to now a request must end to count as recent. (milliseconds)
   */
  readonly recentTailRefreshWindow: number;
  /**
   * Age up to which a recent answer may be served again. (milliseconds)
   */
  readonly recentTailRefreshMaxStaleness: number;
  /**
   * Whether answers depend on the Authorization header, because it is passed on.
   */
  readonly forwardAuthorization: boolean;
  /**
   * Request headers that answers depend on, because they are passed on.
   */
  readonly forwardHeaders: readonly string[];
  /**
   * Cookies that answers depend on, because they are passed on.
   */
  readonly forwardCookies: readonly string[];
  /**
   * Database file of the disk cache; empty turns it off.
   */
  readonly diskCachePath: string;
  /**
   * Compress what goes to the disk cache.
   */
  readonly diskCacheCompress: boolean;
  /**
   * Entries after which waiting writes go to disk. (entries)
   */
  readonly diskCacheFlushSize: number;
  /**
   * Time after which waiting writes go to disk. (milliseconds)
   */
  readonly diskCacheFlushInterval: number;
  /**
   * Answers kept for less than this do not go to disk. Labels and label values that list nothing are kept at least so long. (milliseconds)
   */
  readonly diskCacheMinTtl: number;
  /**
   * Most bytes on disk; 0 means no bound. (bytes)
   */
  readonly diskCacheMaxBytes: number;
  /**
   * Valkey or Redis that replicas share behind memory and disk, in place of peers: redis[s]://[[user]:password@]host[:port][/database].
   */
  readonly sharedCacheUrl?: string;
  /**
   * File that holds sharedCacheUrl, without the line break at its end; read at the start and at each reload.
   */
  readonly sharedCacheUrlFile?: string;
  /**
   * Beginning of all names in the shared cache. Proxies of other data need another one.
   */
  readonly sharedCachePrefix: string;
  /**
   * Secret with which answers in the shared cache are signed; the same on all replicas. Without it whoever can write there can forge answers.
   */
  readonly sharedCacheSecret?: string;
  /**
   * File that holds sharedCacheSecret, without the line break at its end; read at the start and at each reload.
   */
  readonly sharedCacheSecretFile?: string;
  /**
   * Own host:port as the other replicas see it.
   */
  readonly peerSelf?: string;
  /**
   * Own availability zone; peers of the same zone are asked first.
   */
  readonly peerSelfAz: string;
  /**
   * How the other replicas are found; with the own address set it turns the shared cache on.
   */
  readonly peerDiscovery?: 'dns' | 'srv' | 'http' | 'static';
  /**
   * Time between two looks at who the replicas are. (milliseconds)
   */
  readonly peerDiscoveryInterval: number;
  /**
   * Name whose addresses are the replicas, all on port 3100.
   */
  readonly peerDns?: string;
  /**
   * SRV name _service._proto.domain whose records are the replicas.
   */
  readonly peerSrv?: string;
  /**
   * Addresses, with ports where they are not 53, of the DNS servers that know the replicas; those of the system unless given.
   */
  readonly peerDnsServers: readonly string[];
  /**
   * Address that answers with the list of replicas.
   */
  readonly peerHttpUrl?: string;
  /**
   * The replicas, as host:port.
   */
  readonly peerStatic: readonly string[];
  /**
   * Secret that replicas show each other; the same on all of them.
   */
  readonly peerAuthToken?: string;
  /**
   * File that holds peerAuthToken, without the line break at its end; read at the start and at each reload.
   */
  readonly peerAuthTokenFile?: string;
  /**
   * Trust replicas by their address instead of a secret.
   */
  readonly peerInsecureIpAllowlist: boolean;
  /**
   * Own certificate: where it is set, the other replicas are called by HTTPS and shown it.
   */
  readonly tlsCertFile?: string;
  /**
   * Key of the own certificate.
   */
  readonly tlsKeyFile?: string;
  /**
   * Authority of the certificates of the other replicas; those that Node trusts unless set.
   */
  readonly tlsClientCaFile?: string;
  /**
   * Longest time that a call to another replica may take. (milliseconds)
   */
  readonly peerTimeout: number;
  /**
   * Longest time that a request waits for another replica before it goes on to the backend. One that usually answers faster is given twice its usual time, and a tenth of this at least. (milliseconds)
   */
  readonly peerPatience: number;
  /**
   * Hand answers to the replica that owns them.
   */
  readonly peerWriteThrough: boolean;
  /**
   * Answers kept for less than this are not handed to the replica that owns them. Labels and label values that list nothing are kept at least so long. (milliseconds)
   */
  readonly peerWriteThroughMinTtl: number;
  /**
   * Fetch what other replicas are asked for most before it is asked for here.
   */
  readonly peerHotReadAheadEnabled: boolean;
  /**
   * Time between two rounds of reading ahead. (milliseconds)
   */
  readonly peerHotReadAheadInterval: number;
  /**
   * Random time added to each round of reading ahead. (milliseconds)
   */
  readonly peerHotReadAheadJitter: number;
  /**
   * Most wanted keys that a replica tells the others. (keys)
   */
  readonly peerHotReadAheadTopN: number;
  /**
   * Most keys fetched in one round. (keys)
   */
  readonly peerHotReadAheadMaxKeysPerInterval: number;
  /**
   * Most bytes fetched in one round. (bytes)
   */
  readonly peerHotReadAheadMaxBytesPerInterval: number;
  /**
   * Keys fetched at once in a round.
   */
  readonly peerHotReadAheadMaxConcurrency: number;
  /**
   * Answers with less time left than this are not fetched ahead. (milliseconds)
   */
  readonly peerHotReadAheadMinTtl: number;
  /**
   * Largest answer that is fetched ahead. (bytes)
   */
  readonly peerHotReadAheadMaxObjectBytes: number;
  /**
   * Largest share of a round that one tenant may take at first. (percent)
   */
  readonly peerHotReadAheadTenantFairShare: number;
  /**
   * How long a replica is not read ahead from after a failure, as many times as it failed in a row, at most four. (milliseconds)
   */
  readonly peerHotReadAheadErrorBackoff: number;
}

/**
 * The read routes of Loki.
 */
export type ReferenceApiOptions = Readonly<Record<never, never>>;

/**
 * Converts rows of the backend to typed answers in Loki's shape.
 */
export interface ResponseShapeOptions {
  /**
   * Fields taken out of the lines of log answers by a pattern, whose first group or whole match is the value, and shown as parsed labels; a JSON array of objects with name, matcherRegex and, as in Grafana, url, urlDisplayLabel and datasourceUid.
   */
  readonly derivedFields: {
    readonly name: string;
    readonly matcherRegex: string;
    readonly url?: string;
    readonly urlDisplayLabel?: string;
    readonly datasourceUid?: string;
  }[];
  /**
   * Most lines in which fields are looked for. (lines)
   */
  readonly detectedFieldsMaxScanLines: number;
  /**
   * Longest time to scan lines for fields. When it is reached, the answer has the fields of the lines read so far and a warning, or is an error if no line was read. 0 means no bound. (milliseconds)
   */
  readonly drilldownScanTimeout: number;
  /**
   * Counting of rows that were pushed several times, in metrics, volumes and statistics: once counts each of them once, as Loki does; stored counts every stored row, and needs no search for such rows. Lists of log lines show them once in any case.
   */
  readonly repeatedRows: 'once' | 'stored';
  /**
   * File that keeps what was learned about stretches of time (repeated rows, spelled levels) over a restart, so that the first metric queries ask as little as later ones. With -data-dir it is facts.json there unless it is set; empty keeps none.
   */
  readonly factsPersistPath: string;
  /**
   * Most threads that evaluate the lines that cost most: long ones under patterns or chains of stages that would hold up all other requests. They start when they are needed. (threads)
   */
  readonly lineThreads: number;
  /**
   * Threads that count the rows of metric queries with many rows, so that other requests do not wait for them; auto means one less than there are processors, and at least one. With 0 the event loop counts all rows. They start when they are needed. (threads)
   */
  readonly rowThreads: string | number;
  /**
   * Rows of the selected streams in the range from which on these threads count them; fewer are counted sooner than a thread has been told what to count. (rows)
   */
  readonly rowThreadsMinRows: number;
  /**
   * Longest time that such a thread may take for one line; the query fails then. (milliseconds)
   */
  readonly lineTimeout: number;
}

/**
 * Read-only views of rules and alerts.
 */
export interface RulesOptions {
  /**
   * Address of the service that evaluates rules.
   */
  readonly rulerBackend?: string;
  /**
   * Address of the service that reports alerts; unset means the rules service.
   */
  readonly alertsBackend?: string;
  /**
   * Leave addresses, host names and file paths of the services out of the error texts that clients see; the log has them.
   */
  readonly hidesAddresses: boolean;
  /**
   * Longest time that the rules or alerts service may take to answer. (milliseconds)
   */
  readonly timeout: number;
}

/**
 * Readiness, liveness, build information, metrics and the refusal of writes.
 */
export interface StatusOptions {
  /**
   * Loki version that the build information names; clients choose features by it.
   */
  readonly version: string;
}

/**
 * Live tail over a WebSocket.
 */
export interface TailOptions {
  /**
   * Source of new lines. synthetic and auto poll the backend. native also follows the backend's own tail: it polls less often while no lines come, and ends when the backend's tail ends.
   */
  readonly mode: 'auto' | 'native' | 'synthetic';
  /**
   * Browser origins that may open a tail, such as https://grafana.example.com; * lets in all. Requests without an Origin, such as Grafana's own, need none.
   */
  readonly allowedOrigins: readonly string[];
  /**
   * A tail is closed after this time; clients open a new one. 0 means no bound. (milliseconds)
   */
  readonly maxDuration: number;
  /**
   * Tails that may be open at once, in each worker; 0 means no bound.
   */
  readonly maxOpen: number;
  /**
   * Time between two polls for new lines, by the proxy and by the backend in its own tail. (milliseconds)
   */
  readonly refreshInterval: number;
  /**
   * How long a line waits for older lines of its stream, so that lines are sent in order. It should be as long as the backend may take to show a row that it has accepted. 0 sends lines as they are found, in any order. (milliseconds)
   */
  readonly reorderWindow: number;
  /**
   * How late a line may reach the backend, compared with its timestamp, and still be shown. (milliseconds)
   */
  readonly lookback: number;
  /**
   * Lines remembered per tail, so that none is shown twice. Above this many lines within the lookback, the lookback gets shorter.
   */
  readonly dedupKeys: number;
  /**
   * Time that the backend has to start its own tail. (milliseconds)
   */
  readonly nativeOpenTimeout: number;
  /**
   * How long reading waits for a client that is behind before lines are dropped and reported to it. (milliseconds)
   */
  readonly slowGrace: number;
  /**
   * A client that reads nothing for this time, although entries are waiting, is disconnected. (milliseconds)
   */
  readonly stallTimeout: number;
}

/**
 * Decides whose data a request may see: X-Scope-OrgID and the tenants of the backend.
 */
export interface TenancyOptions {
  /**
   * Backend account and project by X-Scope-OrgID, as a JSON object, for example {"team-a":{"account_id":"1","project_id":"0"}}.
   */
  readonly tenantMap: {
    readonly [k: string]: {
      readonly account_id: string | number;
      readonly project_id?: string | number;
    };
  };
  /**
   * YAML or JSON file with the same mapping; its entries win over the inline ones.
   */
  readonly tenantMapFile?: string;
  /**
   * Interval at which the tenant map file is checked for changes; 0 re-reads it on SIGHUP only. (milliseconds)
   */
  readonly tenantMapReloadInterval: number;
  /**
   * Stream field that must equal X-Scope-OrgID, for tenants that share one backend account.
   */
  readonly tenantLabel?: string;
  /**
   * Let X-Scope-OrgID: * see all data when tenants are distinguished by a label.
   */
  readonly allowGlobal: boolean;
  /**
   * Take an X-Scope-OrgID that is a number and not in the map for the backend account of that number. Beside a map this lets a client reach the accounts of other ids by their numbers; false makes such ids unknown.
   */
  readonly allowNumeric: boolean;
  /**
   * Let requests without X-Scope-OrgID, and the ids 0, fake, default and *, read the backend's default account (0:0). False refuses requests without an id, and makes these ids unknown. Unless set, it is false with -tenant.unknown=reject and true otherwise. Ids of the tenant map, and * with -tenant.allow-global, stay allowed.
   */
  readonly allowDefault?: boolean;
  /**
   * Answer an X-Scope-OrgID that is neither mapped nor numeric like a tenant without data, as Loki does, or refuse it with 403.
   */
  readonly unknownTenant: 'empty' | 'reject';
  /**
   * Refuse requests without X-Scope-OrgID.
   */
  readonly requireTenantHeader: boolean;
  /**
   * Refuse requests without X-Scope-OrgID, under the name that Loki gives this.
   */
  readonly authEnabled: boolean;
  /**
   * Pass X-Scope-OrgID on to the backend for ids that are not in the map.
   */
  readonly forwardTenantHeader: boolean;
}

/**
 * Lets clients read the limits that apply to them.
 */
export interface TenantLimitsOptions {
  /**
   * Whether clients are told that patterns are available.
   */
  readonly patternsEnabled: boolean;
}

/**
 * Cache of finished answers, ready to send.
 */
export interface Tier0Options {
  /**
   * Keep finished answers of safe GET requests.
   */
  readonly enabled: boolean;
  /**
   * Share of the cache budget that finished answers may take; 0 turns this cache off. (percent)
   */
  readonly maxPercent: number;
  /**
   * Cache budget that the share is taken from. (bytes)
   */
  readonly cacheMaxBytes: number;
  /**
   * Cache entries that the share is taken from. (entries)
   */
  readonly cacheMax: number;
  /**
   * Time that finished answers to queries are kept. (milliseconds)
   */
  readonly queryTtl: number;
  /**
   * Time that label names and values are kept; 0 means 5m, more for longer ranges. (milliseconds)
   */
  readonly labelsCacheTtl: number;
  /**
   * The least time that labels and label values are kept which list nothing. (milliseconds)
   */
  readonly diskCacheMinTtl: number;
  /**
   * The least time that labels and label values are kept which list nothing. (milliseconds)
   */
  readonly peerWriteThroughMinTtl: number;
  /**
   * How close to now a label or series request must end to count as recent; 0 keeps it like all others. (milliseconds)
   */
  readonly maxMetadataCacheFreshness: number;
  /**
   * Ask again for queries that reach close to now once their answers are a little old; labels and series follow -max-metadata-cache-freshness.
   */
  readonly recentTailRefreshEnabled: boolean;
  /**
   * How close to now a request must end to count as recent. (milliseconds)
   */
  readonly recentTailRefreshWindow: number;
  /**
   * Age up to which a recent answer may be served again. (milliseconds)
   */
  readonly recentTailRefreshMaxStaleness: number;
  /**
   * Whether answers depend on the Authorization header, because it is passed on.
   */
  readonly forwardAuthorization: boolean;
  /**
   * Request headers that answers depend on, because they are passed on.
   */
  readonly forwardHeaders: readonly string[];
  /**
   * Cookies that answers depend on, because they are passed on.
   */
  readonly forwardCookies: readonly string[];
  /**
   * Whether log answers are sent in chunks, which leaves nothing to keep.
   */
  readonly streamResponse: boolean;
}

/**
 * Plans LogQL queries: what the backend does and what is evaluated here.
 */
export interface TranslateOptions {
  /**
   * Whether the backend filters lines and counts entries where it does so exactly; with off it only selects streams and everything else is evaluated here, with the same answers.
   */
  readonly pushdown: 'on' | 'off';
  /**
   * What regular expressions in line filters and label filters mean: with loki what Loki makes of them, which keeps and drops other lines than they say (v=~"a.*" also keeps xab); with exact what they say. Stream selectors always mean what they say.
   */
  readonly filters: 'loki' | 'exact';
  /**
   * The answer to the first range query over many rows: exact waits until the rows are checked for repeats and spellings of levels; prompt answers at once from the backend's own count, names its assumptions in a warning, and checks the rows in spare time. Instant queries, ranges up to 15 minutes and fewer rows than firstAnswersMaxRows are always exact.
   */
  readonly firstAnswers: 'exact' | 'prompt';
  /**
   * The most rows that are checked while a client waits; more of them are assumed to be plain at first, with firstAnswers=prompt. (rows)
   */
  readonly firstAnswersMaxRows: number;
  /**
   * Name the series of metric queries over parsed lines by the extracted labels, read from rows within the row budget.
   */
  readonly exactParserSeriesIdentity: boolean;
}

/**
 * The page at /ui: the pipeline as loaded, and a query box.
 */
export interface UiOptions {
  /**
   * Host names, besides addresses and localhost, under which the admin listener answers, for the page and all its other routes. List only names that you control: whoever can point a listed name at this machine can read the data through a user's browser. With an admin token there is no such listener, and the token protects these routes.
   */
  readonly allowedHosts: readonly string[];
}

/**
 * Answers prepared before they are asked for.
 */
export interface WarmersOptions {
  /**
   * Keep the usual label listings (1h, 6h, 24h, 7d) fresh in the background.
   */
  readonly labelsCacheWarm: boolean;
  /**
   * Time that label listings are kept; they are refreshed at three quarters of it; 0 means 5m. (milliseconds)
   */
  readonly labelsCacheTtl: number;
  /**
   * Longest random wait before the first warm-up, so that replicas do not all start at once. (milliseconds)
   */
  readonly warmupMaxJitter: number;
}

/**
 * Long range queries in pieces: fetched in parallel, kept, merged.
 */
export interface WindowSplitOptions {
  /**
   * Split long range queries into time windows.
   */
  readonly enabled: boolean;
  /**
   * Length of a window. (milliseconds)
   */
  readonly splitInterval: number;
  /**
   * Reads that a metric query makes at once while adaptive parallelism is off. Log queries read all their missing neighbouring windows in one call.
   */
  readonly maxParallel: number;
  /**
   * Metric queries make more reads at once while the backend is quick and healthy, and fewer when it is not.
   */
  readonly adaptiveParallel: boolean;
  /**
   * Fewest reads that a metric query makes at once in adaptive mode.
   */
  readonly adaptiveMinParallel: number;
  /**
   * Most reads that a metric query makes at once in adaptive mode.
   */
  readonly adaptiveMaxParallel: number;
  /**
   * Average time of a window below which adaptive mode adds parallel reads of metric queries. (milliseconds)
   */
  readonly latencyTarget: number;
  /**
   * Average time of a window above which adaptive mode takes parallel reads of metric queries away. (milliseconds)
   */
  readonly latencyBackoff: number;
  /**
   * Shortest time between two changes in adaptive mode, which concerns metric queries only. (milliseconds)
   */
  readonly adaptiveCooldown: number;
  /**
   * Share of failed reads above which adaptive mode takes parallel reads of metric queries away. (ratio)
   */
  readonly errorBackoffThreshold: number;
  /**
   * Windows that end within this time of now may still change and count as recent. (milliseconds)
   */
  readonly freshness: number;
  /**
   * Time that recent windows are kept; 0 keeps none. (milliseconds)
   */
  readonly recentCacheTtl: number;
  /**
   * Time that windows which no longer change are kept. (milliseconds)
   */
  readonly historyCacheTtl: number;
  /**
   * Age up to which a count of lines is trusted before kept windows are served: a late line is seen after this time; 0 trusts windows for as long as they are kept. (milliseconds)
   */
  readonly historyRevalidate: number;
  /**
   * Ask the backend first which windows hold data at all and skip the empty ones.
   */
  readonly prefilterIndexStats: boolean;
  /**
   * Fewest windows for which asking first pays. (windows)
   */
  readonly prefilterMinWindows: number;
  /**
   * Metric queries read windows with many hits with less parallelism than others.
   */
  readonly streamAwareBatching: boolean;
  /**
   * Hits above which a window of a metric query counts as expensive. (hits)
   */
  readonly expensiveHitThreshold: number;
  /**
   * Reads of expensive windows that a metric query makes at once.
   */
  readonly expensiveMaxParallel: number;
  /**
   * Cut windows at multiples of their length, so that later queries find them in the cache.
   */
  readonly alignWindows: boolean;
  /**
   * Longest time that one read may take, of a window or of several neighbouring ones; windows whose common read took longer are read again one by one. 0 means no bound. (milliseconds)
   */
  readonly windowTimeout: number;
  /**
   * Answer with the windows that worked when some failed, and say so.
   */
  readonly partialResponses: boolean;
  /**
   * Fetch the windows before those of a metric query in the background when it comes a second time.
   */
  readonly backgroundWarm: boolean;
  /**
   * Most windows fetched in the background after one query. (windows)
   */
  readonly backgroundWarmMaxWindows: number;
  /**
   * Most answers in the memory cache. (entries)
   */
  readonly cacheMax: number;
  /**
   * Most bytes in the memory cache. (bytes)
   */
  readonly cacheMaxBytes: number;
  /**
   * Whether the cache of finished answers takes its share of the budget.
   */
  readonly compatCacheEnabled: boolean;
  /**
   * Share of the budget that the cache of finished answers takes. (percent)
   */
  readonly compatCacheMaxPercent: number;
  /**
   * Whether answers depend on the Authorization header, because it is passed on.
   */
  readonly forwardAuthorization: boolean;
  /**
   * Request headers that answers depend on, because they are passed on.
   */
  readonly forwardHeaders: readonly string[];
  /**
   * Cookies that answers depend on, because they are passed on.
   */
  readonly forwardCookies: readonly string[];
  /**
   * Turn the memory cache off.
   */
  readonly cacheDisabled: boolean;
}
