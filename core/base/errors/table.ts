import { ApiError, type ApiErrorOptions, type ErrorEntry } from './api-error.js';

/**
 * Every error text sent to clients by its status, word for word as Loki or the specification has it. Add new errors here; docs/errors.md is
 * generated from this table.
 */
export const errorTable = {
  ...withStatus(400, {
    badRequest: {
      when: 'a parameter or query that Loki refuses; the text is Loki’s',
      text: '{text}',
    },
    queryTooLong: {
      when: 'the query text is longer than -max-query-length-bytes',
      text: 'query exceeds max length ({length} > {limit})',
    },
    rangeTooLong: {
      when: 'the time range is longer than the effective max_query_length',
      text: 'the query time range exceeds the limit (query length: {length}, limit: {limit})',
    },
    intervalTooLong: {
      when: 'the [range] of a range aggregation is longer than the tenant’s max_query_range',
      text: '[interval] value exceeds limit: [{interval}] > [{limit}]',
    },
    tooManyBytesRead: {
      when: 'a metric query, or a log query with filters, whose streams have more bytes in the time range than the tenant’s max_query_bytes_read',
      text: 'the query would read too many bytes (query: {read}, limit: {limit}); consider adding more specific stream selectors or reduce the time range of the query',
    },
    tooManyPoints: {
      when: 'a range query has more than 11000 steps',
      text: 'exceeded maximum resolution of 11,000 points per time series. Try increasing the value of the step parameter',
    },
    badTimeParameter: {
      when: 'start, end or since cannot be parsed',
      text: "could not parse '{name}' parameter: {cause}",
    },
    emptyFlushTenant: {
      when: 'a cache flush has an empty `tenant` parameter',
      text: 'tenant is empty: set it to a tenant, or omit the parameter to flush the caches of all tenants',
    },
    endBeforeStart: {
      when: 'end is before start',
      text: 'end timestamp must not be before or equal to start time',
    },
    rangeGone: {
      when: 'end is before start on labels, label values and series',
      text: 'this data is no longer available, it is past now - max_query_lookback (0s)',
    },
    tooManyParameters: {
      when: 'a URL or form has more parameters than any real client sends',
      text: 'the request has more than {limit} parameters; send fewer',
    },
    tooManySelectors: {
      when: 'a series request has more selectors than any real client sends',
      text: 'a series request may have at most {limit} different match[] selectors, and this one has {count}; split the request, or combine selectors with regular expressions',
    },
    tooManyTargetLabels: {
      when: 'a volume request has more target labels than streams have',
      text: 'targetLabels may have at most {limit} names, and this request has {count}',
    },
    brokenBody: {
      when: 'a request body ends too early or has malformed chunks',
      text: 'cannot read the request body: it is incomplete or malformed',
    },
    severalHosts: {
      when: 'a request has more than one Host header',
      text: 'the request has more than one Host header',
    },
    badNumber: {
      when: 'an integer parameter cannot be parsed',
      text: 'strconv.Atoi: parsing {value}: {problem}',
    },
    limitNotPositive: {
      when: 'limit or line_limit is zero or less',
      text: 'limit must be a positive value',
    },
    limitOutOfRange: {
      when: 'limit does not fit into 32 bits',
      text: 'limit value {value} is out of range [0, 4294967295]',
    },
    tooManyEntries: {
      when: 'a log query asks for more than the tenant’s max_entries_limit_per_query',
      text: 'max entries limit per query exceeded, limit > max_entries_limit_per_query ({limit} > {max})',
    },
    badAggregation: {
      when: 'aggregateBy is neither series nor labels',
      text: 'invalid aggregation option',
    },
    volumeSeriesLimit: {
      when: 'a volume request has more label sets than the tenant’s volume_max_series',
      text: 'the query hit the max number of series limit (limit: {limit} series)',
    },
    shardSizeNotPositive: {
      when: 'targetBytesPerShard is missing, zero or not a size',
      text: 'targetBytesPerShard must be a positive value',
    },
    badDirection: {
      when: 'direction is neither forward nor backward',
      text: "invalid direction '{value}'",
    },
    badDuration: {
      when: 'step or interval cannot be parsed',
      text: 'cannot parse {value} to a valid duration',
    },
    durationOverflow: {
      when: 'step or interval does not fit into 64 bits of nanoseconds',
      text: 'cannot parse {value} to a valid duration. It overflows int64',
    },
    stepNotPositive: {
      when: 'step is zero or less',
      text: 'zero or negative query resolution step widths are not accepted. Try a positive integer',
    },
    negativeInterval: { when: 'interval is below zero', text: 'interval must be >= 0' },
    peerRefused: {
      when: 'a malformed call from another replica',
      text: '{text}',
    },
    wildcardInMultiTenant: {
      when: '* is one of several tenant ids',
      text: 'wildcard "*" is not supported inside multi-tenant X-Scope-OrgID values',
    },
    tooFewTenants: {
      when: 'a multi-tenant header has no id',
      text: 'multi-tenant X-Scope-OrgID must include at least two tenant IDs',
    },
    multiTenantUnsupported: {
      when: 'several tenant ids on a route that accepts only one',
      text: 'multi-tenant X-Scope-OrgID values are only supported on query endpoints',
    },
    severalTenantsTailed: {
      when: 'several tenant ids on the tail route',
      text: 'multiple org IDs present',
    },
    multiTenantEndpoint: {
      when: 'several tenant ids on the tenant limits route',
      text: 'multi-tenant X-Scope-OrgID is not supported on this endpoint',
    },
    dottedTenantId: {
      when: 'the id is `.` or `..` and is not mapped',
      text: "tenant ID is '.' or '..'",
    },
    badTenantId: {
      when: 'an id is not mapped and contains a character that Loki does not allow in ids',
      text: "tenant ID '{tenant}' contains unsupported character '{character}'",
    },
    longTenantId: {
      when: 'an id is not mapped and is longer than Loki allows',
      text: 'tenant ID is too long: max {limit} characters',
    },
    tenantCharacter: {
      when: 'CR, LF or NUL in the tenant id under label-based tenancy',
      text: 'invalid character in X-Scope-OrgID for tenant-label mode',
    },
    tooManyTenants: {
      when: 'a request has more tenants than -multi-tenant-max-fanout',
      text: 'multi-tenant fanout exceeds limit of {limit} tenants',
    },
    selectorWithoutTenants: {
      when: 'the selector of a multi-tenant log query is invalid without its matchers on __tenant_id__',
      text: 'log selector is invalid after matcher update: parse error : {cause}',
    },
    badTenantRegex: {
      when: 'a matcher on __tenant_id__ has an invalid regular expression',
      text: 'invalid __tenant_id__ regex: {cause}',
    },
    coldTooMuch: {
      when: 'a query over the hot and the cold backend needs more memory in the proxy than one step may use',
      text: 'the query reads from the hot and the cold backend, and merging their rows takes more than {limit} bytes; shorten the time range or select fewer streams',
    },
    oldLokiRefused: {
      when: 'the old Loki (-loki-history-url) refuses its part of a query; the text is its own',
      text: '{cause}',
    },
    oldLokiTooLarge: {
      when: 'an answer of the old Loki is larger than -loki-history-max-answer-bytes',
      text: 'old Loki: its answer exceeds {limit} bytes; shorten the time range, select fewer streams, or increase -loki-history-max-answer-bytes',
    },
    oldLokiTooManyLines: {
      when: 'a metric query has ranges over the border between the old Loki and the backend, which are evaluated from their lines, and these are more than -loki-history-max-lines',
      text: 'ranges of the query that reach over {until} need more than {limit} lines from the old Loki and the backend; shorten the [range], select fewer streams, or increase -loki-history-max-lines',
    },
    backendQueryTooLong: {
      when: 'the translated LogsQL query is longer than -search.maxQueryLen of VictoriaLogs; unless that limit was lowered, this happens only with very many names',
      text: 'the translated query has {length} bytes, and VictoriaLogs accepts {limit}; shorten the query, or raise -search.maxQueryLen of VictoriaLogs',
    },
    deleteUnconfirmed: {
      when: 'a deletion has no confirmation header',
      text: 'delete requires X-Delete-Confirmation: true header for safety',
    },
    deleteWithoutQuery: {
      when: 'a deletion has no query',
      text: 'query parameter required for delete',
    },
    deleteWildcard: {
      when: 'the selector of a deletion does not name streams',
      text: 'wildcard delete rejected — query must target specific streams (e.g., {example})',
    },
    deleteWithoutRange: {
      when: 'a deletion has no start or end',
      text: 'both start and end parameters required for delete',
    },
    deleteBadTime: {
      when: 'start or end of a deletion cannot be parsed',
      text: 'invalid {name} timestamp: unrecognized timestamp format: {value}',
    },
    deleteTooWide: {
      when: 'the time range of a deletion is longer than maxRange of the plugin delete',
      text: 'delete time range too wide: {length} exceeds maximum {limit}',
    },
    deleteEndBeforeStart: {
      when: 'the end of a deletion is not after its start',
      text: 'end must be after start',
    },
    deleteUntranslatable: {
      when: 'the query of a deletion is invalid, or the backend cannot select exactly the matching rows',
      text: 'failed to translate query: {cause}',
    },
    badRulesPath: {
      when: 'a rules path has an invalid namespace or group',
      text: 'invalid legacy rules path',
    },
    rulesPathTraversal: {
      when: 'a rules namespace with a .. segment',
      text: 'invalid namespace: path traversal not allowed',
    },
    rulesBackendRefused: {
      when: 'the rules or alerts backend refused a parameter',
      text: '{cause}',
    },
    lineFormatLimit: {
      when: 'a template of line_format or label_format exceeds a limit',
      text: 'line_format {limit} limit exceeded',
    },
    lineTooCostly: {
      when: 'the stages of a query took longer than -line-timeout for one line',
      text: 'the stages of the query took longer than {seconds}s for one line; simplify its patterns or raise -line-timeout',
    },
    labelReplaceCost: {
      when: 'the pattern of label_replace is too expensive for the length of a label value',
      text: 'label_replace: a value of {length} characters is too long for this pattern, which allows {limit}; simplify the pattern',
    },
    lineTooLarge: {
      when: 'the stages of a query need too much memory for one line',
      text: 'the stages of the query need more than {megabytes} MiB of memory for one line; simplify its patterns and templates',
    },
    seriesLimit: {
      when: 'a metric query has more series than the tenant’s max_query_series',
      text: 'maximum number of series ({limit}) reached for a single query; consider reducing query cardinality by adding more specific stream selectors, reducing the time range, or aggregating results with functions like sum(), count() or topk()',
    },
    pipelineError: {
      when: 'a metric query reads an entry that has __error__',
      text: `pipeline error: '{error}' for series: '{series}'.
Use a label filter to intentionally skip this error. (e.g | __error__!="{error}").
To skip all potential errors you can match empty errors.(e.g __error__="")
The label filter can also be specified after unwrap. (e.g | unwrap latency | __error__="" )
`,
    },
    binaryTooMany: {
      when: 'binary operations are nested too deeply, or there are too many',
      text: 'binary expression evaluation limit exceeded',
    },
    binaryOperands: {
      when: 'operands of binary operations exceed -binary-metric-max-operand-bytes or -binary-metric-max-arrays',
      text: 'binary operand exceeds response byte limit',
    },
    binarySamples: {
      when: 'binary operations produce too many samples',
      text: 'binary expression output sample budget exceeded',
    },
    binaryLabels: {
      when: 'the results of binary operations have too many labels',
      text: 'binary expression output label budget exceeded',
    },
    binaryEncoded: {
      when: 'the result of binary operations is larger than 64 MiB as JSON',
      text: 'binary encoded response exceeds byte budget',
    },
    queryMemory: {
      when: 'a query needs more memory than -max-query-memory',
      text: 'query exceeded the memory limit of {limit} bytes (mostly {most}) when it needed more for {kind}; narrow the time range, add more specific stream selectors or filters, use a longer step, aggregate into fewer series, or raise -max-query-memory',
    },
    labelTooLong: {
      when: 'label_replace produces a label value that is longer than allowed',
      text: 'label_replace produces a value of label "{label}" that is longer than {limit} characters, which is a fixed limit; shorten the replacement, or match less of the source label',
    },
    tailNeedsLogs: {
      when: 'a tail has a metric query; a WebSocket is closed with 1011 and this text',
      text: 'only log selector is supported',
    },
    delayTooLong: {
      when: 'delay_for of a tail is above its limit, in seconds',
      text: "delay_for can't be greater than {max}",
    },
    delayOutOfRange: {
      when: 'delay_for of a tail does not fit into 32 bits',
      text: 'delay_for value {value} is out of range [0, 4294967295]',
    },
    notWebSocket: {
      when: 'a request for a tail is not a WebSocket request',
      text: 'Bad Request',
      headers: { 'Sec-WebSocket-Version': '13' },
      body: 'text',
    },
  }),
  ...withStatus(401, {
    adminAuthRequired: {
      when: 'a request to an admin or debug route has no valid admin token',
      text: 'admin authentication required',
    },
    peerAuthRequired: {
      when: 'a request to a route of the peer cache has no valid -peer-auth-token or, with -peer-insecure-ip-allowlist, comes from an address that is not a peer',
      text: 'peer authentication required',
    },
    missingTenant: {
      when: 'X-Scope-OrgID is missing and is required, or -tenant.allow-default is off',
      text: 'missing X-Scope-OrgID header',
    },
  }),
  ...withStatus(403, {
    hostNotAllowed: {
      when: 'the Host of a request is neither an IP address nor localhost, and is not allowed by -ui.allowed-hosts (admin listener) or by -http.allowed-hosts, if set (main listener)',
      text: 'host name {host} is not allowed; add it to {flag}',
    },
    crossSiteRequest: {
      when: 'a browser sends a cross-origin request that would change something, or any cross-origin request to the admin listener',
      text: 'cross-site request refused',
    },
    unknownTenant: {
      when: 'with -tenant.unknown=reject, a tenant that is neither mapped nor numeric, or an alias of the default tenant where -tenant.allow-default is off',
      text: 'unknown tenant "{tenant}"',
    },
    globalTenantDisabled: {
      when: 'X-Scope-OrgID: * with -tenant-label and without -tenant.allow-global, or where -tenant.allow-default is off',
      text: 'global tenant bypass ("*") is disabled',
    },
    deleteOfAllTenants: {
      when: 'with -tenant-label, a deletion by the default tenant, whose account holds the logs of every tenant',
      text: 'delete rejected: with label-based tenancy the default tenant holds the logs of every tenant',
    },
    tailOriginRefused: {
      when: 'a browser opens a tail from an origin that is not in -tail.allowed-origins',
      text: 'tail origin not allowed',
    },
  }),
  ...withStatus(404, {
    noRuleGroups: {
      when: 'the rules backend has none of the requested groups',
      text: 'no rule groups found',
    },
    noSuchRuleGroup: {
      when: 'a single rule group that does not exist',
      text: 'group does not exist',
    },
    volumeDisabled: {
      when: 'a volume request of a tenant whose volume_enabled is false',
      text: 'not found',
    },
    notFound: { when: 'the route does not exist', text: '404 page not found', body: 'text' },
    routeOff: {
      when: 'the route is disabled by a flag',
      text: '404 page not found: set {flag}=true to enable this route',
      body: 'text',
    },
  }),
  ...withStatus(405, {
    writeBlocked: {
      when: 'a client pushes logs; this proxy is read-only',
      text: 'write operations are not supported — this is a read-only proxy. Send logs directly to VictoriaLogs.',
    },
    deleteMethod: {
      when: 'a request to the delete route uses a method other than POST',
      text: 'DELETE endpoint requires POST method',
      headers: { Allow: 'POST' },
    },
    methodNotAllowed: {
      when: 'the route does not support the method',
      text: 'method not allowed',
    },
  }),
  ...withStatus(408, {
    slowBody: {
      when: 'a request was not received completely within -http-read-timeout',
      text: 'timeout while reading the request; send it faster, or raise -http-read-timeout',
    },
  }),
  ...withStatus(413, {
    mergedTooLarge: {
      when: 'a merged answer is larger than -multi-tenant-max-merged-response-bytes',
      text: 'multi-tenant merged response exceeds configured safety limit',
    },
    bodyTooLarge: {
      when: 'a request body is larger than -http-max-body-bytes',
      text: 'request body exceeds {limit} bytes; raise -http-max-body-bytes',
    },
  }),
  ...withStatus(429, {
    rateLimited: {
      when: 'the client exceeded -rate-limit-per-second and -rate-limit-burst',
      text: 'rate limit exceeded',
      headers: { 'Retry-After': '1', 'X-RateLimit-Remaining': '0' },
    },
    tooManyPipelined: {
      when: 'a connection already has -http-conn-max-pipelined requests without a response',
      text: 'this connection has {limit} requests without a response; use more connections, or raise -http-conn-max-pipelined',
    },
    heavyQueriesBusy: {
      when: 'a heavy query waited longer than -backend-heavy-query-queue-wait for one of -backend-max-concurrent-heavy-queries permits',
      text: 'too many outstanding requests: heavy VictoriaLogs queries are limited to -backend-max-concurrent-heavy-queries={limit} per replica and this query waited -backend-heavy-query-queue-wait={wait}; retry later, narrow the time range, or raise these limits',
    },
    heavyQueueFull: {
      when: 'too many heavy queries wait for one of -backend-max-concurrent-heavy-queries permits',
      text: 'too many outstanding requests: heavy VictoriaLogs queries are limited to -backend-max-concurrent-heavy-queries={limit} per replica and {waiting} queries are waiting; retry later, narrow the time range, or raise this limit',
    },
    scansBusy: {
      when: 'a long label scan waited longer than -backend-heavy-query-queue-wait for a permit',
      text: 'too many outstanding requests: long-range VictoriaLogs metadata scans are limited to at most -backend-max-concurrent-metadata-scans={limit} per replica ({note}) and this query waited -backend-heavy-query-queue-wait={wait}; retry later, narrow the time range, or raise these limits',
    },
    scansStopped: {
      when: 'a long label scan was stopped because the memory use of the backend reached -backend-metadata-scan-memory-headroom',
      text: "too many outstanding requests: long-range VictoriaLogs metadata scans are limited to at most -backend-max-concurrent-metadata-scans={limit} per replica ({note}); retry later, narrow the time range, or raise these limits, the scan was stopped to keep VictoriaLogs' memory inside the headroom",
    },
    scanQueueFull: {
      when: 'too many long label scans wait for a permit',
      text: 'too many outstanding requests: long-range VictoriaLogs metadata scans are limited to at most -backend-max-concurrent-metadata-scans={limit} per replica and {waiting} queries are waiting; retry later, narrow the time range, or raise this limit',
    },
    statisticsQueueFull: {
      when: 'too many statistics queries over time wait for one of -stats-query-range-concurrency permits',
      text: 'too many outstanding requests: VictoriaLogs statistics over time are limited to -stats-query-range-concurrency={limit} per replica and {waiting} queries are waiting; retry later, or raise this limit',
    },
    tooManyDeletions: {
      when: 'the maximum number of deletions is still running in the backend',
      text: '{limit} deletions are still running, which is the limit; retry when some have finished',
    },
    profileBusy: {
      when: 'another profile is already running',
      text: 'another profile is already running; retry when it has finished',
      headers: { 'Retry-After': '5' },
    },
    scrapeBusy: {
      when: 'more concurrent scrapes than -server.metrics-max-concurrency',
      text: 'metrics scrape already in progress',
      headers: { 'Retry-After': '1' },
    },
    tooManyTails: {
      when: '-tail.max-open tails are open',
      text: 'too many open tails (limit {limit})',
      headers: { 'Retry-After': '5' },
    },
  }),
  ...withStatus(431, {
    tooManyHeaders: {
      when: 'a request has more headers than clients and reverse proxies send',
      text: 'the request has {limit} headers or more; send fewer',
    },
  }),
  ...withStatus(499, {
    clientGone: { when: 'the client closed the connection', text: 'context canceled' },
  }),
  ...withStatus(500, {
    labelValuesTooLarge: {
      when: 'a list of label values is larger than -label-values-max-response-bytes',
      text: 'rpc error: code = ResourceExhausted desc = grpc: trying to send message larger than max ({read} vs. {limit}); raise -label-values-max-response-bytes or narrow the query',
    },
    rowThreadEnded: {
      when: 'one of the -row-threads ended while it counted the rows of a query, for example because it ran out of memory',
      text: 'the thread that counted the rows of the query has ended: {cause}; retry with a shorter time range or fewer series',
    },
    approxTopk: {
      when: 'approx_topk over an expression that Loki divides into shards, unless -approx-topk is exact',
      text: 'approx_topk is not enabled. See -limits.shard_aggregations',
    },
    approxTopkRange: {
      when: 'approx_topk in a range query',
      text: 'count min sketches are only supported on instant queries',
    },
    numberAsVector: {
      when: 'a function that expects series gets a number, such as `sort(1)`; Loki reports this as an internal error',
      text: 'unexpected expr type (*syntax.LiteralExpr) for Evaluator type (*logql.DefaultEvaluator) ',
    },
    manyToOne: {
      when: 'a binary operation in which several series of one side match one of the other, without group_left or group_right',
      text: 'multiple matches for labels: many-to-one matching must be explicit (group_left/group_right)',
    },
    duplicateMatch: {
      when: 'a binary operation in which several series of the side of one match alike',
      text: 'found duplicate series on the {side} hand-side;many-to-many matching not allowed: matching labels must be unique on one side',
    },
    matchNotUnique: {
      when: 'a binary operation with group_left or group_right whose results would have equal labels',
      text: 'multiple matches for labels: grouping labels must ensure unique matches',
    },
    severalErrors: {
      when: 'several operations of a metric query fail with different errors',
      text: '{count} errors: {texts}',
    },
    pluginDefect: {
      when: 'a bug in a plugin, such as a custom stage that returns no answer; details are in the log',
      text: 'internal error in {kind} "{id}" (plugin "{plugin}")',
    },
    internal: { when: 'a bug; details are in the log', text: 'internal error' },
  }),
  ...withStatus(502, {
    backendUnreachable: {
      when: 'the connection to the backend failed or was closed early',
      text: 'backend unreachable: {cause}',
    },
    coldBackend: {
      when: 'the cold backend (-cold-backend) has rows in the time range and cannot be read: it is down, refuses the call, or does not answer within -cold-timeout (then 504)',
      text: 'cold backend: {cause}',
    },
    oldLoki: {
      when: 'the old Loki (-loki-history-url) has data in the time range and cannot be read: it is down, refuses the call, or does not answer within -loki-history-timeout (then 504)',
      text: 'old Loki: {cause}',
    },
    backendRefused: {
      when: 'the backend returned an error (query routes pass its status on)',
      text: '{cause}',
    },
    storageNodeLost: {
      when: 'the backend is a cluster and cannot reach one of its storage nodes, so its answer would be incomplete',
      text: 'the backend cannot reach one of its storage nodes, so its answer would be incomplete; check its storage nodes',
    },
    unexpectedAnswer: {
      when: 'the backend sent an unexpected response: a success status other than 200, another content type, another format, or malformed rows',
      text: 'unexpected response from {from}: {problem}',
    },
    rowTooLong: {
      when: 'a row from the backend is larger than -max-row-bytes',
      text: 'a row from the backend is larger than {limit} bytes; raise -max-row-bytes, or exclude the row by time range or stream',
    },
    bufferLimit: {
      when: 'a backend response that must be buffered is larger than -backend-max-buffered-response-bytes',
      text: 'response exceeds {limit} bytes; narrow the query or increase -backend-max-buffered-response-bytes',
    },
    deleteFailed: {
      when: 'the backend refused a deletion',
      text: 'VL delete failed: {cause}',
    },
    deletionsUntold: {
      when: 'the backend did not list its running deletions',
      text: 'cannot list running deletions: the backend did not return them',
    },
    rulesBackendFailed: {
      when: 'the rules or alerts backend did not respond, or sent an unexpected response (504 after a timeout)',
      text: '{service} backend failed: {cause}',
    },
    metricRows: {
      when: 'the proxy evaluates a range aggregation itself, and it reads more rows than -manual-range-metric-row-limit',
      text: 'manual range metric row limit exceeded',
    },
    metricRowsCounted: {
      when: 'the same for ranges of six hours and more, whose rows are counted before any is read',
      text: 'manual range metric row limit exceeded ({limit}); the query matches {rows} log lines; narrow the query or increase -manual-range-metric-row-limit',
    },
    nativeTailEnded: {
      when: '-tail.mode is native and the tail of the backend ended; a WebSocket is closed with 1011 and this text',
      text: 'the backend ended its tail; reopen the tail, or set -tail.mode=synthetic',
    },
  }),
  ...withStatus(503, {
    tooManyConcurrent: {
      when: '-max-concurrent requests are in flight',
      text: 'too many concurrent queries',
      headers: { 'Retry-After': '5' },
    },
    peerBusy: {
      when: 'another replica pushes an answer while the maximum number of pushes is in progress',
      text: 'too many concurrent pushes from peers (limit {limit}); retry later',
    },
    breakerOpen: {
      when: 'the circuit breaker is open',
      text: 'backend unavailable: circuit breaker is open',
    },
    noDescriptors: {
      when: 'the process has no free file descriptor for a connection to the backend',
      text: 'too many open files: cannot open a connection to the backend; retry later or raise the limit of file descriptors (ulimit -n)',
      headers: { 'Retry-After': '5' },
    },
    tooManyCalls: {
      when: 'too many calls to the backend wait for one of -max-concurrent permits',
      text: 'too many calls to the backend: {limit} are running (-max-concurrent) and {waiting} are waiting; retry later or raise -max-concurrent',
      headers: { 'Retry-After': '5' },
    },
    heapTooLarge: {
      when: 'the heap is too large for a heap snapshot',
      text: 'the heap has {bytes} bytes; heap snapshots are limited to {limit} bytes',
    },
    stopping: {
      when: 'the process is shutting down and the request did not finish within the drain timeout',
      text: 'server is shutting down',
    },
    tooManyCostlyLines: {
      when: 'too many requests wait for one of the -line-threads, which evaluate expensive lines',
      text: 'too many expensive queries: {limit} are waiting for a thread to evaluate their lines; retry later or raise -line-threads',
      headers: { 'Retry-After': '5' },
    },
    processMemory: {
      when: 'all running queries together use the part of the JavaScript heap that is available to them, and this query needed more',
      text: 'running queries use {held} of the {limit} bytes of heap available to them, and this query needed more for {kind}; retry later, narrow the query, or raise the heap limit with NODE_OPTIONS=--max-old-space-size',
      headers: { 'Retry-After': '5' },
    },
    metricCells: {
      when: 'the proxy evaluates a metric query itself, and it has too many pairs of a series and a time interval',
      text: 'manual metric series limit exceeded',
    },
    metricValues: {
      when: 'quantile_over_time or rate_counter needs more values than may be kept in memory',
      text: 'a range aggregation needs more than {limit} values in memory; narrow the query or shorten its time range',
    },
  }),
  ...withStatus(504, {
    queryTimeout: {
      when: 'the backend did not answer within -backend-timeout, a call waited that long for one of -max-concurrent permits, the backend reached its own timeout, or the request took longer than the tenant’s query_timeout or -http-write-timeout',
      text: 'request timed out, decrease the duration of the request or add more label matchers (prefer exact match over regex match) to reduce the amount of data processed',
    },
  }),
  ...withStatus(505, {
    badHttpVersion: {
      when: 'a request uses a version other than HTTP/1.0 or HTTP/1.1, or has no version',
      text: 'HTTP version not supported',
    },
  }),
};

/** The texts stay literal in the type, because their placeholders are the values that {@link apiError} asks for. */
function withStatus<const Texts extends Readonly<Record<string, string>>>(
  status: number,
  entries: {
    readonly [Id in keyof Texts]: Omit<ErrorEntry, 'status' | 'text'> & { readonly text: Texts[Id] };
  },
): { readonly [Id in keyof Texts]: ErrorEntry & { readonly text: Texts[Id] } } {
  const all = Object.entries<Omit<ErrorEntry, 'status'>>(entries).map(
    ([id, entry]) => [id, { ...entry, status }] as const,
  );
  // Made id by id from the entries.
  return Object.fromEntries(all) as ReturnType<typeof withStatus<Texts>>;
}

export type ErrorId = keyof typeof errorTable;

type Placeholders<Text extends string> = Text extends `${string}{${infer Hole}}${infer Rest}`
  ? Hole | Placeholders<Rest>
  : never;
type Values<Id extends ErrorId> = {
  readonly [Hole in Placeholders<(typeof errorTable)[Id]['text']>]: string | number;
};

/** Makes an error from its table entry and fills in the values. */
export function apiError<Id extends ErrorId>(
  id: Id,
  values: Values<Id>,
  options: ApiErrorOptions = {},
): ApiError {
  const entry: ErrorEntry = errorTable[id];
  const byName = new Map<string, string | number>(Object.entries(values));
  const text = entry.text.replace(/\{(\w+)\}/g, (_hole, name: string) => String(byName.get(name) ?? ''));
  return new ApiError(entry, text, options);
}
