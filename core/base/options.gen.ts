/* Generated from schemas/*.schema.json by `npm run generate`; do not edit. */
/* Options as code gets them: defaults filled in, durations in milliseconds. The schemas and docs/flags.md describe them. */

/** Options of several plugins that the same flag sets. */
export interface SharedOptions {
  readonly tlsCertFile?: string;
  readonly tlsKeyFile?: string;
  readonly tlsClientCaFile?: string;
  readonly streamResponse: boolean;
  readonly compression: 'auto' | 'gzip' | 'zstd' | 'none';
  readonly hidesAddresses: boolean;
  readonly tlsSkipVerify: boolean;
  readonly forwardAuthorization: boolean;
  readonly forwardHeaders: readonly string[];
  readonly forwardCookies: readonly string[];
  readonly maxBufferedResponseBytes: number; // bytes
  readonly maxRowBytes: number; // bytes
  readonly breakerFailThreshold: number; // failures
  readonly breakerOpenDuration: number; // milliseconds
  readonly breakerWindowDuration: number; // milliseconds
  readonly maxConcurrent: number; // requests
  readonly cacheDisabled: boolean;
  readonly cacheMax: number; // entries
  readonly cacheMaxBytes: number; // bytes
  readonly labelsCacheTtl: number; // milliseconds
  readonly maxMetadataCacheFreshness: number; // milliseconds
  readonly recentTailRefreshEnabled: boolean;
  readonly recentTailRefreshWindow: number; // milliseconds
  readonly recentTailRefreshMaxStaleness: number; // milliseconds
  readonly diskCachePath: string;
  readonly diskCacheMinTtl: number; // milliseconds
  readonly peerWriteThroughMinTtl: number; // milliseconds
  readonly lineThreads: number; // threads
  readonly lineTimeout: number; // milliseconds
  readonly partialResponses: boolean;
}

/** Listeners, TLS, HTTP limits, compression and the format of error bodies. */
export interface ServerOptions
  extends Pick<SharedOptions, 'tlsCertFile' | 'tlsKeyFile' | 'tlsClientCaFile' | 'streamResponse'> {
  readonly listen: string;
  readonly workers: string | number; // processes
  readonly adminListen: string;
  readonly metricsListen?: string;
  readonly adminAuthToken?: string;
  readonly tlsRequireClientCert: boolean;
  readonly httpAllowedHosts: readonly string[];
  readonly adminAllowedHosts: readonly string[];
  readonly httpReadTimeout: number; // milliseconds
  readonly httpReadHeaderTimeout: number; // milliseconds
  readonly httpWriteTimeout: number; // milliseconds
  readonly httpIdleTimeout: number; // milliseconds
  readonly httpMaxHeaderBytes: number; // bytes
  readonly httpMaxBodyBytes: number; // bytes
  readonly httpConnMaxAge: number; // milliseconds
  readonly httpConnMaxAgeJitter: number; // milliseconds
  readonly httpConnMaxRequests: number;
  readonly httpFastLane: boolean;
  readonly httpConnMaxPipelined: number;
  readonly httpConnOverloadMaxAge: number; // milliseconds
  readonly responseCompression: 'gzip' | 'auto' | 'none';
  readonly responseCompressionMinBytes: number; // bytes
  readonly responseGzip: boolean;
  readonly errorResponseMessageField: boolean;
  readonly drainTimeout: number; // milliseconds
  readonly shutdownDelay: number; // milliseconds
  readonly reloadDrainTimeout: number; // milliseconds
  readonly dataDir: string;
  readonly startTimeout: number; // milliseconds
  readonly goMemLimit: string;
  readonly goMemLimitPercent: number; // percent
  readonly goGcPercent: string; // percent
}

/** Translation of label and field names between clients and the backend. */
export interface NamesOptions {
  readonly labelStyle: 'underscores' | 'passthrough';
  readonly metadataFieldMode: 'translated' | 'native' | 'hybrid';
  readonly emitStructuredMetadata: boolean;
  readonly logqlDottedNames: 'auto' | 'reject' | 'accept';
  readonly labelBrowseExtensions: 'auto' | 'on' | 'off';
  readonly labelValuesIndexedCache: boolean;
  readonly translateOtelAttributes: boolean;
  readonly fieldMapping: {
    readonly vl_field: string;
    readonly loki_label: string;
  }[];
  readonly streamFields: readonly string[];
  readonly streamLabels: 'auto' | 'all' | 'promoted';
  readonly extraLabelFields: readonly string[];
  readonly promotedAttributes: readonly string[];
  readonly tenantPromotedAttributes: {
    readonly [k: string]: readonly string[];
  };
  readonly backendDefaultMsgValue: string;
  readonly detectedLevelBodyScan: boolean;
}

/** Query limits, global and per tenant. */
export interface LimitsOptions {
  readonly tenantLimits: {
    readonly [k: string]: {
      readonly [k: string]: unknown;
    };
  };
  readonly tenantDefaultLimits: {
    readonly [k: string]: unknown;
  };
  readonly tenantLimitsAllowPublish?: readonly string[];
  readonly defaultMaxQueryLength: number; // milliseconds
  readonly maxQueryLengthBytes: number; // bytes
  readonly maxLines: number; // lines
  readonly maxEntriesLimitPerQuery: number; // lines
  readonly maxStatsQuerySeries: number; // series
  readonly maxQueryMemory: number; // bytes
  readonly manualRangeMetricRowLimit: number; // rows
  readonly labelValuesMaxResponseBytes: number; // bytes
  readonly metadataDefaultLookback: number; // milliseconds
  readonly multiTenantMaxFanout: number; // tenants
  readonly multiTenantMaxMergedResponseBytes: number; // bytes
  readonly binaryMetricMaxOperandBytes: number; // bytes
  readonly binaryMetricMaxArrays: number;
  readonly approxTopk: 'loki' | 'exact';
  readonly maxZeroFillBuckets: number;
}

/** Logs, metrics, traces and where they are sent. */
export interface TelemetryOptions {
  readonly logLevel: 'debug' | 'info' | 'warn' | 'error';
  readonly logFormat?: 'json' | 'text';
  readonly logRequestSampleRate: number;
  readonly logBuffered: boolean;
  readonly logStatsInterval: number; // milliseconds
  readonly logRateThreshold: number; // requests/s
  readonly debugLogRawQueries: boolean;
  readonly registerInstrumentation: boolean;
  readonly metricsMaxConcurrency: number;
  readonly metricsExportSensitiveLabels: boolean;
  readonly metricsMaxTenants: number;
  readonly metricsMaxClients: number;
  readonly metricsTrustProxyHeaders: boolean;
  readonly procRoot: string;
  readonly hostProcRoot?: string;
  readonly otlpEndpoint?: string;
  readonly otlpInterval: number; // milliseconds
  readonly otlpTimeout: number; // milliseconds
  readonly otlpCompression: 'none' | 'gzip' | 'zstd';
  readonly otlpHeaders: readonly string[];
  readonly otlpTlsSkipVerify: boolean;
  readonly otlpTracesEndpoint?: string;
  readonly otlpTracesSampleRatio: number; // ratio
  readonly otelServiceName: string;
  readonly otelServiceNamespace?: string;
  readonly otelServiceInstanceId?: string;
  readonly deploymentEnvironment?: string;
}

/** Query analytics, profiling and cache flush for operators. */
export interface AdminOptions {
  readonly enableQueryAnalytics: boolean;
  readonly enablePprof: boolean;
}

/** Address of VictoriaLogs, how the proxy connects to it, and limits that protect it. */
export interface BackendOptions
  extends Pick<SharedOptions, 'compression' | 'hidesAddresses' | 'tlsSkipVerify' | 'forwardAuthorization'
    | 'forwardHeaders' | 'forwardCookies' | 'maxConcurrent' | 'maxBufferedResponseBytes'
    | 'maxRowBytes' | 'breakerFailThreshold' | 'breakerOpenDuration' | 'breakerWindowDuration'
    | 'partialResponses'> {
  readonly url: string;
  readonly metricsUrl: readonly string[]; // @maxItems 100
  readonly timeout: number; // milliseconds
  readonly basicAuth?: string;
  readonly showsRawErrors: boolean;
  readonly minVersion: string;
  readonly allowUnsupportedVersion: boolean;
  readonly versionCheckTimeout: number; // milliseconds
  readonly versionStrict: boolean;
  readonly trustProxyHeaders: boolean;
  readonly maxConcurrentHeavyQueries: number; // queries
  readonly heavyQueryMinRange: number; // milliseconds
  readonly heavyQueryQueueWait: number; // milliseconds
  readonly maxConcurrentMetadataScans: number; // scans
  readonly minConcurrentMetadataScans: number; // scans
  readonly metadataScanLatencyTolerance: number; // ratio
  readonly metadataScanMemoryHeadroom: number; // ratio
  readonly statsQueryRangeConcurrency: number; // queries
  readonly statsQueryRangeInterQueryDelay: number; // ms
}

/** Reads old data from a second backend. */
export interface ColdRouteOptions
  extends Pick<SharedOptions, 'compression' | 'hidesAddresses' | 'tlsSkipVerify' | 'maxConcurrent'
    | 'maxBufferedResponseBytes' | 'maxRowBytes' | 'breakerFailThreshold' | 'breakerOpenDuration'
    | 'breakerWindowDuration' | 'partialResponses'> {
  readonly enabled: boolean;
  readonly backend?: string;
  readonly boundary: number; // milliseconds
  readonly overlap: number; // milliseconds
  readonly manifestRefresh: number; // milliseconds
  readonly timeout: number; // milliseconds
  readonly showsRawErrors: boolean;
}

/** Guarded deletion of logs. */
export interface DeleteOptions
  extends Pick<SharedOptions, 'diskCachePath' | 'forwardAuthorization' | 'forwardHeaders'
    | 'forwardCookies'> {
  readonly maxRange: number; // milliseconds
  readonly pollInterval: number; // milliseconds
  readonly followTime: number; // milliseconds
  readonly unconfirmedTime: number; // milliseconds
  readonly patternsPersistPath: string;
  readonly labelIndexPersistPath: string;
}

/** Generates sample logs of a few services: some history and live entries. */
export interface DemoDataOptions {
  readonly target: string;
  readonly history: number; // milliseconds
  readonly linesPerSecond: number; // lines/s
  readonly seed: number;
}

/** Answers field queries of Grafana Logs Drilldown that arrive together with one backend query. */
export interface DrilldownOptions
  extends Pick<SharedOptions, 'forwardAuthorization' | 'forwardHeaders' | 'forwardCookies'> {
  readonly burstWindow: number; // ms
  readonly burstMaxFields: number; // fields
  readonly fieldBatchWindow: number; // ms
  readonly fieldBatchMaxFields: number; // fields
  readonly maxStatsBuckets: number; // buckets
}

/** A small in-process server that implements the VictoriaLogs API, for development. */
export interface EmbeddedBackendOptions {
  readonly listen: string;
  readonly maxBytes: number; // bytes
  readonly dataPath?: string;
  readonly faults: boolean;
}

/** Rate limit, concurrency limit and queue for incoming requests. */
export interface GuardOptions
  extends Pick<SharedOptions, 'maxConcurrent'> {
  readonly rateLimitPerSecond: number; // requests/s
  readonly rateLimitBurst: number; // requests
  readonly rateLimitBy: 'address' | 'tenant';
  readonly maxConcurrentQueueWait: number; // milliseconds
}

/** Caches patterns of past time ranges, keeps them across restarts and prefetches them. */
export interface KeptPatternsOptions
  extends Pick<SharedOptions, 'cacheMaxBytes' | 'recentTailRefreshWindow' | 'forwardAuthorization'
    | 'forwardHeaders' | 'forwardCookies'> {
  readonly autodetectFromQueries: boolean;
  readonly persistPath: string;
  readonly persistInterval: number; // milliseconds
  readonly startupStaleThreshold: number; // milliseconds
  readonly startupPeerWarmTimeout: number; // milliseconds
}

/** In-memory index of label values for fast browsing. */
export interface LabelIndexOptions
  extends Pick<SharedOptions, 'forwardAuthorization' | 'forwardHeaders' | 'forwardCookies'> {
  readonly enabled: boolean;
  readonly hotLimit: number; // values
  readonly maxEntries: number; // values
  readonly maxLabels: number; // labels
  readonly maxBytes: number; // bytes
  readonly persistPath: string;
  readonly persistInterval: number; // milliseconds
  readonly startupStaleThreshold: number; // milliseconds
  readonly startupPeerWarmTimeout: number; // milliseconds
}

/** Reads data from before a move to VictoriaLogs from the old Loki. */
export interface LokiHistoryOptions
  extends Pick<SharedOptions, 'hidesAddresses' | 'tlsSkipVerify' | 'breakerFailThreshold'
    | 'breakerOpenDuration' | 'breakerWindowDuration' | 'lineThreads' | 'lineTimeout'
    | 'partialResponses'> {
  readonly url?: string;
  readonly until?: string;
  readonly timeout: number; // milliseconds
  readonly maxAnswerBytes: number; // bytes
  readonly maxConcurrent: number; // requests
  readonly maxLines: number; // lines
  readonly linesPerCall: number; // lines
  readonly showsRawErrors: boolean;
}

/** Sends a share of requests to a second Loki API as well, and compares the answers. */
export interface MirrorOptions {
  readonly url?: string;
  readonly percent: number; // percent
  readonly rate: number; // requests/s
  readonly maxConcurrent: number; // requests
  readonly timeout: number; // milliseconds
  readonly maxAnswerBytes: number; // bytes
  readonly keep: number; // differences
}

/** Finds patterns in log lines. */
export interface PatternsOptions {
  readonly enabled: boolean;
  readonly custom: readonly string[];
  readonly customFile?: string;
  readonly maxBackendRows: number; // rows
  readonly secondPassMaxRows: number; // rows
  readonly secondPassMaxWindows: number; // windows
}

/** Caches backend answers in memory, on disk and across replicas, and merges identical in-flight calls. */
export interface PeerCacheOptions
  extends Pick<SharedOptions, 'cacheDisabled' | 'cacheMax' | 'cacheMaxBytes' | 'labelsCacheTtl'
    | 'maxMetadataCacheFreshness' | 'recentTailRefreshEnabled' | 'recentTailRefreshWindow'
    | 'recentTailRefreshMaxStaleness' | 'forwardAuthorization' | 'forwardHeaders' | 'forwardCookies'
    | 'diskCachePath' | 'diskCacheMinTtl' | 'tlsCertFile' | 'tlsKeyFile' | 'tlsClientCaFile'
    | 'peerWriteThroughMinTtl'> {
  readonly cacheTtl: number; // milliseconds
  readonly compatCacheEnabled: boolean;
  readonly compatCacheMaxPercent: number; // percent
  readonly metadataInventoryParallelism: number; // listings
  readonly staleIfError: number; // milliseconds
  readonly coalescerDisabled: boolean;
  readonly diskCacheCompress: boolean;
  readonly diskCacheFlushSize: number; // entries
  readonly diskCacheFlushInterval: number; // milliseconds
  readonly diskCacheMaxBytes: number; // bytes
  readonly sharedCacheUrl?: string;
  readonly sharedCachePrefix: string;
  readonly sharedCacheSecret?: string;
  readonly peerSelf?: string;
  readonly peerSelfAz: string;
  readonly peerDiscovery?: 'dns' | 'srv' | 'http' | 'static';
  readonly peerDiscoveryInterval: number; // milliseconds
  readonly peerDns?: string;
  readonly peerSrv?: string;
  readonly peerDnsServers: readonly string[];
  readonly peerHttpUrl?: string;
  readonly peerStatic: readonly string[];
  readonly peerAuthToken?: string;
  readonly peerInsecureIpAllowlist: boolean;
  readonly peerTimeout: number; // milliseconds
  readonly peerPatience: number; // milliseconds
  readonly peerWriteThrough: boolean;
  readonly peerHotReadAheadEnabled: boolean;
  readonly peerHotReadAheadInterval: number; // milliseconds
  readonly peerHotReadAheadJitter: number; // milliseconds
  readonly peerHotReadAheadTopN: number; // keys
  readonly peerHotReadAheadMaxKeysPerInterval: number; // keys
  readonly peerHotReadAheadMaxBytesPerInterval: number; // bytes
  readonly peerHotReadAheadMaxConcurrency: number;
  readonly peerHotReadAheadMinTtl: number; // milliseconds
  readonly peerHotReadAheadMaxObjectBytes: number; // bytes
  readonly peerHotReadAheadTenantFairShare: number; // percent
  readonly peerHotReadAheadErrorBackoff: number; // milliseconds
}

/** The read routes of Loki. */
export type ReferenceApiOptions = Readonly<Record<never, never>>;

/** Evaluates the stages that the backend cannot, and converts backend rows to Loki's response format. */
export interface ResponseShapeOptions
  extends Pick<SharedOptions, 'lineThreads' | 'lineTimeout'> {
  readonly derivedFields: {
    readonly name: string;
    readonly matcherRegex: string;
    readonly url?: string;
    readonly urlDisplayLabel?: string;
    readonly datasourceUid?: string;
  }[];
  readonly detectedFieldsMaxScanLines: number; // lines
  readonly drilldownScanTimeout: number; // milliseconds
  readonly repeatedRows: 'once' | 'stored';
  readonly factsPersistPath: string;
  readonly rowThreads: string | number; // threads
  readonly rowThreadsMinRows: number; // rows
}

/** Read-only API for rules and alerts. */
export interface RulesOptions
  extends Pick<SharedOptions, 'hidesAddresses'> {
  readonly rulerBackend?: string;
  readonly alertsBackend?: string;
  readonly timeout: number; // milliseconds
}

/** Serves readiness, liveness, build information and metrics, and refuses writes. */
export interface StatusOptions {
  readonly version: string;
}

/** Live tail over a WebSocket. */
export interface TailOptions {
  readonly mode: 'auto' | 'native' | 'synthetic';
  readonly allowedOrigins: readonly string[];
  readonly maxDuration: number; // milliseconds
  readonly maxOpen: number;
  readonly refreshInterval: number; // milliseconds
  readonly reorderWindow: number; // milliseconds
  readonly lookback: number; // milliseconds
  readonly dedupKeys: number;
  readonly nativeOpenTimeout: number; // milliseconds
  readonly slowGrace: number; // milliseconds
  readonly stallTimeout: number; // milliseconds
}

/** Maps X-Scope-OrgID to tenants of the backend, and so decides which data a request may read. */
export interface TenancyOptions {
  readonly tenantMap: {
    readonly [k: string]: {
      readonly account_id: string | number;
      readonly project_id?: string | number;
    };
  };
  readonly tenantMapFile?: string;
  readonly tenantMapReloadInterval: number; // milliseconds
  readonly tenantLabel?: string;
  readonly allowGlobal: boolean;
  readonly allowNumeric: boolean;
  readonly allowDefault?: boolean;
  readonly unknownTenant: 'empty' | 'reject';
  readonly requireTenantHeader: boolean;
  readonly authEnabled: boolean;
  readonly forwardTenantHeader: boolean;
}

/** Serves the limits that apply to the client's tenant. */
export interface TenantLimitsOptions {
  readonly patternsEnabled: boolean;
}

/** Response cache (tier0): encoded responses that are ready to send. */
export interface Tier0Options
  extends Pick<SharedOptions, 'cacheMaxBytes' | 'cacheMax' | 'labelsCacheTtl' | 'diskCacheMinTtl'
    | 'peerWriteThroughMinTtl' | 'maxMetadataCacheFreshness' | 'recentTailRefreshEnabled'
    | 'recentTailRefreshWindow' | 'recentTailRefreshMaxStaleness' | 'forwardAuthorization'
    | 'forwardHeaders' | 'forwardCookies' | 'streamResponse'> {
  readonly enabled: boolean;
  readonly maxPercent: number; // percent
  readonly queryTtl: number; // milliseconds
}

/** Plans LogQL queries: which parts the backend evaluates and which parts the proxy evaluates. */
export interface TranslateOptions {
  readonly pushdown: 'on' | 'off';
  readonly filters: 'loki' | 'exact';
  readonly firstAnswers: 'exact' | 'prompt';
  readonly firstAnswersMaxRows: number; // rows
  readonly exactParserSeriesIdentity: boolean;
}

/** Serves the web page at /ui, with the loaded pipeline and a query editor. */
export interface UiOptions {
  readonly allowedHosts: readonly string[];
  readonly grafanaUrl?: string;
  readonly grafanaDatasourceUid?: string;
}

/** Prefetches common answers before clients request them. */
export interface WarmersOptions
  extends Pick<SharedOptions, 'labelsCacheTtl'> {
  readonly labelsCacheWarm: boolean;
  readonly warmupMaxJitter: number; // milliseconds
}

/** Splits long range queries into time windows, which are fetched in parallel, cached and merged. */
export interface WindowSplitOptions
  extends Pick<SharedOptions, 'partialResponses' | 'cacheMax' | 'cacheMaxBytes' | 'forwardAuthorization'
    | 'forwardHeaders' | 'forwardCookies' | 'cacheDisabled'> {
  readonly enabled: boolean;
  readonly splitInterval: number; // milliseconds
  readonly maxParallel: number;
  readonly adaptiveParallel: boolean;
  readonly adaptiveMinParallel: number;
  readonly adaptiveMaxParallel: number;
  readonly latencyTarget: number; // milliseconds
  readonly latencyBackoff: number; // milliseconds
  readonly adaptiveCooldown: number; // milliseconds
  readonly errorBackoffThreshold: number; // ratio
  readonly freshness: number; // milliseconds
  readonly recentCacheTtl: number; // milliseconds
  readonly historyCacheTtl: number; // milliseconds
  readonly historyRevalidate: number; // milliseconds
  readonly prefilterIndexStats: boolean;
  readonly prefilterMinWindows: number; // windows
  readonly streamAwareBatching: boolean;
  readonly expensiveHitThreshold: number; // hits
  readonly expensiveMaxParallel: number;
  readonly alignWindows: boolean;
  readonly windowTimeout: number; // milliseconds
  readonly backgroundWarm: boolean;
  readonly backgroundWarmMaxWindows: number; // windows
  readonly compatCacheEnabled: boolean;
  readonly compatCacheMaxPercent: number; // percent
}
