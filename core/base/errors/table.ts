import { ApiError, type ApiErrorOptions, type ErrorEntry } from './api-error.js';

/**
 * Every error text sent to clients, word for word as Loki or the specification has it. Add new errors here; docs/errors.md is generated
 * from this table.
 */
export const errorTable = {
  badRequest: {
    status: 400,
    when: 'a parameter or query Loki refuses; the text is Loki’s',
    text: '{text}',
  },
  rateLimited: {
    status: 429,
    when: 'the client exceeded -rate-limit-per-second and -rate-limit-burst',
    text: 'rate limit exceeded',
    headers: { 'Retry-After': '1', 'X-RateLimit-Remaining': '0' },
  },
  tooManyConcurrent: {
    status: 503,
    when: '-max-concurrent requests are in flight',
    text: 'too many concurrent queries',
    headers: { 'Retry-After': '5' },
  },
  queryTooLong: {
    status: 400,
    when: 'the query text is longer than -max-query-length-bytes',
    text: 'query exceeds max length ({length} > {limit})',
  },
  rangeTooLong: {
    status: 400,
    when: 'the range is over the effective max_query_length',
    text: 'the query time range exceeds the limit (query length: {length}, limit: {limit})',
  },
  intervalTooLong: {
    status: 400,
    when: 'the [range] of a range aggregation is over the tenant’s max_query_range',
    text: '[interval] value exceeds limit: [{interval}] > [{limit}]',
  },
  tooManyBytesRead: {
    status: 400,
    when: 'a metric query, or a log query with filters, whose streams have more bytes in its time range than the tenant’s max_query_bytes_read',
    text: 'the query would read too many bytes (query: {read}, limit: {limit}); consider adding more specific stream selectors or reduce the time range of the query',
  },
  tooManyPoints: {
    status: 400,
    when: 'query_range with more than 11000 steps',
    text: 'exceeded maximum resolution of 11,000 points per time series. Try increasing the value of the step parameter',
  },
  badTimeParameter: {
    status: 400,
    when: 'start, end or since cannot be read',
    text: "could not parse '{name}' parameter: {cause}",
  },
  emptyFlushTenant: {
    status: 400,
    when: 'a flush of caches whose `tenant` is empty',
    text: 'tenant is empty: name a tenant, or leave the parameter out to flush the caches of all',
  },
  endBeforeStart: {
    status: 400,
    when: 'end is before start',
    text: 'end timestamp must not be before or equal to start time',
  },
  rangeGone: {
    status: 400,
    when: 'end is before start on labels, label values and series',
    text: 'this data is no longer available, it is past now - max_query_lookback (0s)',
  },
  tooManyParameters: {
    status: 400,
    when: 'a URL or form with more parameters than any client sends',
    text: 'more than {limit} parameters',
  },
  tooManySelectors: {
    status: 400,
    when: 'series of more selectors than any client asks for at once',
    text: 'series takes {limit} different match[] selectors, and these are {count}; ask for some at a time, or join them by regular expressions',
  },
  tooManyTargetLabels: {
    status: 400,
    when: 'volumes by more labels than streams have',
    text: 'targetLabels takes {limit} names, and these are {count}',
  },
  brokenBody: {
    status: 400,
    when: 'a request body that ends too soon, or whose chunks are none',
    text: 'cannot read the request body',
  },
  slowBody: {
    status: 408,
    when: 'a request that is not there after -http-read-timeout',
    text: 'the request was not sent in time; raise -http-read-timeout',
  },
  tooManyPipelined: {
    status: 429,
    when: 'a request on a connection with -http-conn-max-pipelined others that are not answered yet',
    text: '{limit} requests of this connection are not answered yet; use more connections, or raise -http-conn-max-pipelined',
  },
  tooManyHeaders: {
    status: 431,
    when: 'a request with more headers than any client and the proxies before this one send',
    text: 'the request has {limit} headers or more',
  },
  severalHosts: {
    status: 400,
    when: 'a request with more than one Host header',
    text: 'more than one Host header',
  },
  badHttpVersion: {
    status: 505,
    when: 'a request of another version than HTTP/1.0 and HTTP/1.1, or without one',
    text: 'HTTP version not supported',
  },
  badNumber: {
    status: 400,
    when: 'a whole-number parameter cannot be read',
    text: 'strconv.Atoi: parsing {value}: {problem}',
  },
  limitNotPositive: {
    status: 400,
    when: 'limit or line_limit is zero or less',
    text: 'limit must be a positive value',
  },
  limitOutOfRange: {
    status: 400,
    when: 'limit does not fit 32 bits',
    text: 'limit value {value} is out of range [0, 4294967295]',
  },
  tooManyEntries: {
    status: 400,
    when: 'a log query asks for more than the tenant’s max_entries_limit_per_query',
    text: 'max entries limit per query exceeded, limit > max_entries_limit_per_query ({limit} > {max})',
  },
  badAggregation: {
    status: 400,
    when: 'aggregateBy is neither series nor labels',
    text: 'invalid aggregation option',
  },
  volumeSeriesLimit: {
    status: 400,
    when: 'volumes of more label sets than the tenant’s volume_max_series',
    text: 'the query hit the max number of series limit (limit: {limit} series)',
  },
  shardSizeNotPositive: {
    status: 400,
    when: 'targetBytesPerShard is missing, zero or no size',
    text: 'targetBytesPerShard must be a positive value',
  },
  badDirection: {
    status: 400,
    when: 'direction is neither forward nor backward',
    text: "invalid direction '{value}'",
  },
  badDuration: {
    status: 400,
    when: 'step or interval cannot be read',
    text: 'cannot parse {value} to a valid duration',
  },
  durationOverflow: {
    status: 400,
    when: 'step or interval does not fit 64 bits of nanoseconds',
    text: 'cannot parse {value} to a valid duration. It overflows int64',
  },
  stepNotPositive: {
    status: 400,
    when: 'step is zero or less',
    text: 'zero or negative query resolution step widths are not accepted. Try a positive integer',
  },
  negativeInterval: { status: 400, when: 'interval is below zero', text: 'interval must be >= 0' },
  adminAuthRequired: {
    status: 401,
    when: 'an admin or debug route without the admin token',
    text: 'admin authentication required',
  },
  peerAuthRequired: {
    status: 401,
    when: 'a route of the cache that replicas share, without the token of -peer-auth-token or, with -peer-insecure-ip-allowlist, from an address that is none of theirs',
    text: 'peer authentication required',
  },
  peerRefused: {
    status: 400,
    when: 'a call of another replica that cannot be used',
    text: '{text}',
  },
  peerBusy: {
    status: 503,
    when: 'an answer of another replica while as many as fit into memory are being taken',
    text: 'too many answers at once (limit {limit})',
  },
  hostNotAllowed: {
    status: 403,
    when: 'a request whose Host is neither an address, nor localhost, nor allowed: on the admin listener by -ui.allowed-hosts, on the main one by -http.allowed-hosts where that is set',
    text: 'host name {host} is not allowed here; set {flag}',
  },
  crossSiteRequest: {
    status: 403,
    when: 'a browser sends a request for the page of another origin that would change something, or any to the admin listener',
    text: 'cross-site request refused',
  },
  missingTenant: {
    status: 401,
    when: 'no X-Scope-OrgID where one is required, or where -tenant.allow-default is off',
    text: 'missing X-Scope-OrgID header',
  },
  unknownTenant: {
    status: 403,
    when: 'with -tenant.unknown=reject, a tenant that is neither mapped nor numeric, or an alias of the default tenant where -tenant.allow-default is off',
    text: 'unknown tenant "{tenant}"',
  },
  globalTenantDisabled: {
    status: 403,
    when: 'X-Scope-OrgID: * with -tenant-label and without -tenant.allow-global, or where -tenant.allow-default is off',
    text: 'global tenant bypass ("*") is disabled',
  },
  wildcardInMultiTenant: {
    status: 400,
    when: '* among several tenant ids',
    text: 'wildcard "*" is not supported inside multi-tenant X-Scope-OrgID values',
  },
  tooFewTenants: {
    status: 400,
    when: 'a multi-tenant header without any id',
    text: 'multi-tenant X-Scope-OrgID must include at least two tenant IDs',
  },
  multiTenantUnsupported: {
    status: 400,
    when: 'several tenant ids on a route that takes one',
    text: 'multi-tenant X-Scope-OrgID values are only supported on query endpoints',
  },
  severalTenantsTailed: {
    status: 400,
    when: 'several tenant ids on the tail route',
    text: 'multiple org IDs present',
  },
  multiTenantEndpoint: {
    status: 400,
    when: 'several tenant ids on the tenant limits route',
    text: 'multi-tenant X-Scope-OrgID is not supported on this endpoint',
  },
  dottedTenantId: {
    status: 400,
    when: 'the id `.` or `..`, where it names nothing',
    text: "tenant ID is '.' or '..'",
  },
  badTenantId: {
    status: 400,
    when: 'an id that names nothing and holds a character that Loki takes in no id',
    text: "tenant ID '{tenant}' contains unsupported character '{character}'",
  },
  longTenantId: {
    status: 400,
    when: 'an id that names nothing and is longer than Loki takes',
    text: 'tenant ID is too long: max {limit} characters',
  },
  tenantCharacter: {
    status: 400,
    when: 'CR, LF or NUL in the tenant id under label-based tenancy',
    text: 'invalid character in X-Scope-OrgID for tenant-label mode',
  },
  tooManyTenants: {
    status: 400,
    when: 'more tenants than -multi-tenant-max-fanout',
    text: 'multi-tenant fanout exceeds limit of {limit} tenants',
  },
  mergedTooLarge: {
    status: 413,
    when: 'a merged answer over -multi-tenant-max-merged-response-bytes',
    text: 'multi-tenant merged response exceeds configured safety limit',
  },
  selectorWithoutTenants: {
    status: 400,
    when: 'a log query over several tenants whose selector needs its matchers on __tenant_id__',
    text: 'log selector is invalid after matcher update: parse error : {cause}',
  },
  badTenantRegex: {
    status: 400,
    when: 'a broken regexp on __tenant_id__',
    text: 'invalid __tenant_id__ regex: {cause}',
  },
  clientGone: { status: 499, when: 'the client closed the connection', text: 'context canceled' },
  queryTimeout: {
    status: 504,
    when: 'the backend did not answer within -backend-timeout, a call waited as long for one of -max-concurrent places, the backend broke off at its own deadline, or the request took longer than the tenant’s query_timeout or -http-write-timeout',
    text: 'request timed out, decrease the duration of the request or add more label matchers (prefer exact match over regex match) to reduce the amount of data processed',
  },
  breakerOpen: {
    status: 503,
    when: 'the circuit breaker is open',
    text: 'backend unavailable: circuit breaker is open',
  },
  backendUnreachable: {
    status: 502,
    when: 'no connection to the backend, or it broke off',
    text: 'backend unreachable: {cause}',
  },
  noDescriptors: {
    status: 503,
    when: 'the process has no file descriptor left for a connection to the backend',
    text: 'too many open files: no connection to the backend can be opened; retry later or raise the limit of file descriptors (ulimit -n)',
    headers: { 'Retry-After': '5' },
  },
  coldBackend: {
    status: 502,
    when: 'the cold backend (-cold-backend) has rows of the range and cannot be read: it is down, refuses the call, or does not answer within -cold-timeout (then 504)',
    text: 'cold backend: {cause}',
  },
  coldTooMuch: {
    status: 400,
    when: 'what has to be computed here from rows of the hot and the cold backend needs more memory than one step may hold',
    text: 'the query reads from the hot and the cold backend, and putting them together takes more than {limit} bytes: shorten its range or select fewer streams',
  },
  tooManyCalls: {
    status: 503,
    when: 'too many calls to the backend wait for one of -max-concurrent places',
    text: 'too many calls to the backend: -max-concurrent={limit} run and {waiting} wait; retry later or raise this limit',
    headers: { 'Retry-After': '5' },
  },
  heavyQueriesBusy: {
    status: 429,
    when: 'a heavy query waited longer than -backend-heavy-query-queue-wait for one of -backend-max-concurrent-heavy-queries places',
    text: 'too many outstanding requests: heavy VictoriaLogs queries are limited to -backend-max-concurrent-heavy-queries={limit} per replica and this query waited -backend-heavy-query-queue-wait={wait}; retry later, narrow the time range, or raise these limits',
  },
  heavyQueueFull: {
    status: 429,
    when: 'a heavy query while too many wait for one of -backend-max-concurrent-heavy-queries places',
    text: 'too many outstanding requests: heavy VictoriaLogs queries are limited to -backend-max-concurrent-heavy-queries={limit} per replica and {waiting} queries are waiting; retry later, narrow the time range, or raise this limit',
  },
  scansBusy: {
    status: 429,
    when: 'a long listing of labels waited longer than -backend-heavy-query-queue-wait for a place',
    text: 'too many outstanding requests: long-range VictoriaLogs metadata scans are limited to at most -backend-max-concurrent-metadata-scans={limit} per replica ({note}) and this query waited -backend-heavy-query-queue-wait={wait}; retry later, narrow the time range, or raise these limits',
  },
  scansStopped: {
    status: 429,
    when: 'a long listing of labels was stopped because the memory of the backend went into -backend-metadata-scan-memory-headroom',
    text: "too many outstanding requests: long-range VictoriaLogs metadata scans are limited to at most -backend-max-concurrent-metadata-scans={limit} per replica ({note}); retry later, narrow the time range, or raise these limits, the scan was stopped to keep VictoriaLogs' memory inside the headroom",
  },
  scanQueueFull: {
    status: 429,
    when: 'a long listing of labels while too many wait for a place',
    text: 'too many outstanding requests: long-range VictoriaLogs metadata scans are limited to at most -backend-max-concurrent-metadata-scans={limit} per replica and {waiting} queries are waiting; retry later, narrow the time range, or raise this limit',
  },
  statisticsQueueFull: {
    status: 429,
    when: 'statistics over time while too many wait for one of -stats-query-range-concurrency places',
    text: 'too many outstanding requests: VictoriaLogs statistics over time are limited to -stats-query-range-concurrency={limit} per replica and {waiting} queries are waiting; retry later, or raise this limit',
  },
  backendRefused: {
    status: 502,
    when: 'the backend answered with an error (its own status on query routes)',
    text: '{cause}',
  },
  storageNodeLost: {
    status: 502,
    when: 'the backend is a cluster and cannot reach one of its storage nodes, so that its answer would be short',
    text: 'the backend cannot reach one of its storage nodes, without which the answer would not be complete',
  },
  unexpectedAnswer: {
    status: 502,
    when: 'the backend answered with something that is no answer to the call: another status of success than 200, another content type, another form, or rows that are none',
    text: 'unexpected answer of {from}: {problem}',
  },
  rowTooLong: {
    status: 502,
    when: 'a row of the backend is longer than -max-row-bytes',
    text: 'a row of the backend has more than {limit} bytes; raise -max-row-bytes, or ask for a time or stream without it',
  },
  backendQueryTooLong: {
    status: 400,
    when: 'the query is longer in VictoriaLogs’ language than its -search.maxQueryLen, which the proxy comes up to with very many names only, unless it was lowered',
    text: 'the query has {length} bytes in VictoriaLogs, which takes {limit}; shorten it, or raise -search.maxQueryLen of VictoriaLogs',
  },
  bufferLimit: {
    status: 502,
    when: 'an answer that must be collected is over -backend-max-buffered-response-bytes',
    text: 'response exceeds {limit} bytes; narrow the query or increase -backend-max-buffered-response-bytes',
  },
  labelValuesTooLarge: {
    status: 500,
    when: 'label values over -label-values-max-response-bytes',
    text: 'rpc error: code = ResourceExhausted desc = grpc: trying to send message larger than max ({read} vs. {limit}); raise -label-values-max-response-bytes or narrow the query',
  },
  writeBlocked: {
    status: 405,
    when: 'a push; this proxy only reads',
    text: 'write operations are not supported — this is a read-only proxy. Send logs directly to VictoriaLogs.',
  },
  bodyTooLarge: {
    status: 413,
    when: 'a request body over -http-max-body-bytes',
    text: 'request body exceeds {limit} bytes; raise -http-max-body-bytes',
  },
  deleteMethod: {
    status: 405,
    when: 'the delete route with another method than POST',
    text: 'DELETE endpoint requires POST method',
    headers: { Allow: 'POST' },
  },
  deleteUnconfirmed: {
    status: 400,
    when: 'a deletion without its confirmation header',
    text: 'delete requires X-Delete-Confirmation: true header for safety',
  },
  deleteOfAllTenants: {
    status: 403,
    when: 'with -tenant-label, a deletion by the default tenant, whose account holds the logs of every tenant',
    text: 'delete rejected: with label-based tenancy the default tenant holds the logs of every tenant',
  },
  deleteWithoutQuery: {
    status: 400,
    when: 'a deletion without a query',
    text: 'query parameter required for delete',
  },
  deleteWildcard: {
    status: 400,
    when: 'a deletion whose selector names no streams',
    text: 'wildcard delete rejected — query must target specific streams (e.g., {example})',
  },
  deleteWithoutRange: {
    status: 400,
    when: 'a deletion without start or end',
    text: 'both start and end parameters required for delete',
  },
  deleteBadTime: {
    status: 400,
    when: 'start or end of a deletion cannot be read',
    text: 'invalid {name} timestamp: unrecognized timestamp format: {value}',
  },
  deleteTooWide: {
    status: 400,
    when: 'a deletion over a longer time than maxRange of the plugin delete',
    text: 'delete time range too wide: {length} exceeds maximum {limit}',
  },
  deleteEndBeforeStart: {
    status: 400,
    when: 'a deletion whose end is not after its start',
    text: 'end must be after start',
  },
  deleteUntranslatable: {
    status: 400,
    when: 'the query of a deletion is none, or the backend could not select exactly what it shows',
    text: 'failed to translate query: {cause}',
  },
  deleteFailed: {
    status: 502,
    when: 'the backend did not take a deletion',
    text: 'VL delete failed: {cause}',
  },
  tooManyDeletions: {
    status: 429,
    when: 'a deletion while as many as are followed at once have not ended in the backend',
    text: '{limit} deletions have not ended yet, and no more are followed at once; try again when some have ended',
  },
  deletionsUntold: {
    status: 502,
    when: 'the backend did not say which deletions it has not finished',
    text: 'the backend does not tell which deletions are running',
  },
  badRulesPath: {
    status: 400,
    when: 'a rules path whose namespace or group cannot be one',
    text: 'invalid legacy rules path',
  },
  rulesPathTraversal: {
    status: 400,
    when: 'a rules namespace with a .. segment',
    text: 'invalid namespace: path traversal not allowed',
  },
  noRuleGroups: {
    status: 404,
    when: 'the rules backend has no group that was asked for',
    text: 'no rule groups found',
  },
  noSuchRuleGroup: {
    status: 404,
    when: 'a single rule group that does not exist',
    text: 'group does not exist',
  },
  rulesBackendRefused: {
    status: 400,
    when: 'the rules or alerts backend refused a parameter',
    text: '{cause}',
  },
  rulesBackendFailed: {
    status: 502,
    when: 'the rules or alerts backend did not answer, or not with what it should (504 when it was too slow)',
    text: '{service} backend failed: {cause}',
  },
  profileBusy: {
    status: 429,
    when: 'a profile while another one is being taken',
    text: 'another profile is being taken',
    headers: { 'Retry-After': '5' },
  },
  heapTooLarge: {
    status: 503,
    when: 'a heap snapshot of a heap that is too large to be copied',
    text: 'the heap holds {bytes} bytes; snapshots are taken up to {limit}',
  },
  volumeDisabled: {
    status: 404,
    when: 'volumes of a tenant whose volume_enabled is false',
    text: 'not found',
  },
  notFound: { status: 404, when: 'no such route', text: '404 page not found', body: 'text' },
  routeOff: {
    status: 404,
    when: 'a route that a flag opens, where the flag is off',
    text: '404 page not found: {flag}=true opens it',
    body: 'text',
  },
  methodNotAllowed: {
    status: 405,
    when: 'a method the route does not take',
    text: 'method not allowed',
  },
  stopping: {
    status: 503,
    when: 'the process is stopping and this request was over the drain bound',
    text: 'server is shutting down',
  },
  scrapeBusy: {
    status: 429,
    when: 'more scrapes than -server.metrics-max-concurrency',
    text: 'metrics scrape already in progress',
    headers: { 'Retry-After': '1' },
  },
  lineFormatLimit: {
    status: 400,
    when: 'a template of line_format or label_format goes beyond a limit',
    text: 'line_format {limit} limit exceeded',
  },
  lineTooCostly: {
    status: 400,
    when: 'the stages of a query take longer than -line-timeout for one line',
    text: 'the stages of the query took longer than {seconds}s for one line; simplify its patterns or raise -line-timeout',
  },
  labelReplaceCost: {
    status: 400,
    when: 'the pattern of label_replace is too costly for the length of a label’s value',
    text: 'label_replace: a value of {length} characters is too long for its pattern; at most {limit} are allowed',
  },
  lineTooLarge: {
    status: 400,
    when: 'the stages of a query take too much memory for one line',
    text: 'the stages of the query took more than {megabytes} MiB of memory for one line',
  },
  tooManyCostlyLines: {
    status: 503,
    when: 'too many requests wait for one of the -line-threads, which evaluate the lines that cost most',
    text: 'too many costly queries: {limit} wait for a thread to evaluate their lines; try again later or raise -line-threads',
    headers: { 'Retry-After': '5' },
  },
  rowThreadEnded: {
    status: 500,
    when: 'one of the -row-threads has ended while it counted the rows of a query, such as for want of memory',
    text: 'the thread that counted the rows of the query has ended: {cause}; try again, with a shorter range or fewer series',
  },
  seriesLimit: {
    status: 400,
    when: 'a metric query with more series than the tenant’s max_query_series',
    text: 'maximum number of series ({limit}) reached for a single query; consider reducing query cardinality by adding more specific stream selectors, reducing the time range, or aggregating results with functions like sum(), count() or topk()',
  },
  pipelineError: {
    status: 400,
    when: 'a metric query over an entry that has __error__',
    text: `pipeline error: '{error}' for series: '{series}'.
Use a label filter to intentionally skip this error. (e.g | __error__!="{error}").
To skip all potential errors you can match empty errors.(e.g __error__="")
The label filter can also be specified after unwrap. (e.g | unwrap latency | __error__="" )
`,
  },
  approxTopk: {
    status: 500,
    when: 'approx_topk over an expression that Loki divides into shards, unless -approx-topk is exact',
    text: 'approx_topk is not enabled. See -limits.shard_aggregations',
  },
  approxTopkRange: {
    status: 500,
    when: 'approx_topk in a range query',
    text: 'count min sketches are only supported on instant queries',
  },
  numberAsVector: {
    status: 500,
    when: 'a number where a function expects series, such as `sort(1)`; Loki words it as a fault of its own',
    text: 'unexpected expr type (*syntax.LiteralExpr) for Evaluator type (*logql.DefaultEvaluator) ',
  },
  manyToOne: {
    status: 500,
    when: 'a binary operation in which several series of one side match one of the other, without group_left or group_right',
    text: 'multiple matches for labels: many-to-one matching must be explicit (group_left/group_right)',
  },
  duplicateMatch: {
    status: 500,
    when: 'a binary operation in which several series of the side of one match alike',
    text: 'found duplicate series on the {side} hand-side;many-to-many matching not allowed: matching labels must be unique on one side',
  },
  matchNotUnique: {
    status: 500,
    when: 'a binary operation with group_left or group_right whose results would have equal labels',
    text: 'multiple matches for labels: grouping labels must ensure unique matches',
  },
  severalErrors: {
    status: 500,
    when: 'operations of a metric query that fail at the same time, each in its own way',
    text: '{count} errors: {texts}',
  },
  binaryTooMany: {
    status: 400,
    when: 'binary operations that nest too deep, or too many of them',
    text: 'binary expression evaluation limit exceeded',
  },
  binaryOperands: {
    status: 400,
    when: 'operands of binary operations over -binary-metric-max-operand-bytes or -binary-metric-max-arrays',
    text: 'binary operand exceeds response byte limit',
  },
  binarySamples: {
    status: 400,
    when: 'binary operations that give too many samples',
    text: 'binary expression output sample budget exceeded',
  },
  binaryLabels: {
    status: 400,
    when: 'binary operations whose results have too many labels',
    text: 'binary expression output label budget exceeded',
  },
  binaryEncoded: {
    status: 400,
    when: 'binary operations whose result has more than 64 MiB as JSON',
    text: 'binary encoded response exceeds byte budget',
  },
  queryMemory: {
    status: 400,
    when: 'a query that has to hold more in memory than -max-query-memory',
    text: 'the query needs more than {limit} bytes of memory, most of it for {most}, and was refused more for {kind}; narrow the time range, add more specific stream selectors or filters, use a longer step, aggregate into fewer series, or raise -max-query-memory',
  },
  processMemory: {
    status: 503,
    when: 'all running queries together hold as much memory as the JavaScript heap leaves them, and this one asked for more',
    text: 'running queries hold {held} of the {limit} bytes that the heap of this process leaves to them, and this query was refused more for {kind}; retry later, narrow the query, or raise the heap with NODE_OPTIONS=--max-old-space-size',
    headers: { 'Retry-After': '5' },
  },
  labelTooLong: {
    status: 400,
    when: 'label_replace makes a label value of more characters than a value may have',
    text: 'label_replace makes a value of label "{label}" that is longer than {limit} characters; this limit is fixed: shorten the replacement, or match less of the source label',
  },
  metricRows: {
    status: 502,
    when: 'a range aggregation that is evaluated here and reads more rows than -manual-range-metric-row-limit',
    text: 'manual range metric row limit exceeded',
  },
  metricRowsCounted: {
    status: 502,
    when: 'the same over six hours and more: its rows are counted before any is read',
    text: 'manual range metric row limit exceeded ({limit}); the query matches {rows} log lines; narrow the query or increase -manual-range-metric-row-limit',
  },
  metricCells: {
    status: 503,
    when: 'a metric query evaluated here with too many pairs of a series and a stretch of time',
    text: 'manual metric series limit exceeded',
  },
  metricValues: {
    status: 503,
    when: 'quantile_over_time or rate_counter over more values than may be kept',
    text: 'more than {limit} values to keep for one range aggregation; narrow the query or shorten its range',
  },
  tailNeedsLogs: {
    status: 400,
    when: 'a tail of a metric query; a WebSocket is closed with 1011 and this text',
    text: 'only log selector is supported',
  },
  delayTooLong: {
    status: 400,
    when: 'delay_for of a tail is above its bound, in seconds',
    text: "delay_for can't be greater than {max}",
  },
  delayOutOfRange: {
    status: 400,
    when: 'delay_for of a tail does not fit 32 bits',
    text: 'delay_for value {value} is out of range [0, 4294967295]',
  },
  tailOriginRefused: {
    status: 403,
    when: 'a browser opens a tail from an origin that is not in -tail.allowed-origins',
    text: 'tail origin not allowed',
  },
  tooManyTails: {
    status: 429,
    when: '-tail.max-open tails are open',
    text: 'too many open tails (limit {limit})',
    headers: { 'Retry-After': '5' },
  },
  nativeTailEnded: {
    status: 502,
    when: '-tail.mode is native and the tail of the backend ended; a WebSocket is closed with 1011 and this text',
    text: 'the backend ended its tail',
  },
  notWebSocket: {
    status: 400,
    when: 'a request for a tail that asks for no WebSocket',
    text: 'Bad Request',
    headers: { 'Sec-WebSocket-Version': '13' },
    body: 'text',
  },
  pluginDefect: {
    status: 500,
    when: 'a defect that shows in a plugin, such as a stage of a site that gives no answer; details are in the log',
    text: 'internal error in {kind} "{id}" (plugin "{plugin}")',
  },
  internal: { status: 500, when: 'a defect; details are in the log', text: 'internal error' },
} as const satisfies Record<string, ErrorEntry>;

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
