/**
 * Every route, path alias and header name of the API (docs/protocol/requests.md#read-api). A route that no endpoint plugin of the
 * pipeline serves is answered like an unknown path.
 */

export type HttpMethod = 'GET' | 'POST' | 'PUT' | 'DELETE' | 'PATCH' | 'OPTIONS';
/**
 * The listener of a route. `admin` routes move to the main listener, behind the token, if one is set; `metrics` has its own listener;
 * `workers` is a socket in a private folder for the other workers of a proxy, and does not exist without workers.
 */
export type ListenerName = 'main' | 'admin' | 'metrics' | 'workers';

export interface Route {
  /** Id used by endpoint plugins, the request log (`ref.request.type`) and the metrics label `endpoint`. */
  readonly id: string;
  /** The path that logs and metrics show as the route, followed by its aliases; `{name}` is a path parameter. */
  readonly paths: readonly [string, ...string[]];
  /** HEAD is accepted wherever GET is. */
  readonly methods: readonly HttpMethod[];
  readonly listener: ListenerName;
  /** Exists only with -server.register-instrumentation=true. */
  readonly isInstrumentation?: true;
  /** Served without the admin token because it holds no data: a page must load before it can ask for the token. */
  readonly isOpen?: true;
  /** True if a POST reads like a GET, with its parameters in a form; on other routes a POST has side effects. */
  readonly readsByPost?: true;
  /** True if the answer does not depend on a body, which is then not read. */
  readonly ignoresBody?: true;
  /** Asked about a query that is being written or read, and returns no logs: it does not count as a query of a client. */
  readonly isAboutQuery?: true;
}

/** Alternative path prefixes: what real clients send first, then the specification's. */
export const prefixAliases: readonly (readonly [real: string, alias: string])[] = [
  ['/loki/', '/ref/'],
  ['/api/prom/', '/api/pm/'],
  ['/prometheus/', '/pm/'],
];

/** Request headers by meaning, in lower case; the first one present wins. */
export const headerNames = {
  tenant: ['x-scope-orgid'],
  encodingFlags: ['x-loki-response-encoding-flags', 'x-ref-response-encoding-flags'],
  queryTags: ['x-query-tags'],
  adminToken: ['x-admin-token'],
  deleteConfirmation: ['x-delete-confirmation'],
} as const satisfies Readonly<Record<string, readonly string[]>>;

const anyMethod: readonly HttpMethod[] = ['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'];
const read: readonly HttpMethod[] = ['GET', 'POST'];
const api = '/loki/api/v1';
const legacy = '/api/prom';
const pm = '/prometheus/api/v1';

function spellings(...paths: readonly [string, ...string[]]): readonly [string, ...string[]] {
  const [first, ...others] = paths;
  const all = new Set<string>();
  for (const path of paths) {
    for (const [real, alias] of prefixAliases) {
      if (path.startsWith(real)) all.add(alias + path.slice(real.length));
    }
  }
  return [first, ...others, ...all];
}

function route(
  id: string,
  paths: readonly [string, ...string[]],
  methods: readonly HttpMethod[] = ['GET'],
  more: Partial<
    Pick<Route, 'listener' | 'isInstrumentation' | 'isOpen' | 'ignoresBody' | 'isAboutQuery'>
  > = {},
): Route {
  const reading = methods === read ? { readsByPost: true as const } : {};
  return { id, paths: spellings(...paths), methods, listener: 'main', ...reading, ...more };
}

const aboutQuery = { listener: 'admin', isAboutQuery: true } as const;

export const routes: readonly Route[] = [
  // Read API
  route('query_range', [`${api}/query_range`], read),
  route('query', [`${api}/query`], read),
  route('labels', [`${api}/labels`, `${api}/label`, `${legacy}/label`], read),
  route('label_values', [`${api}/label/{name}/values`, `${legacy}/label/{name}/values`], read),
  route('series', [`${api}/series`, `${legacy}/series`], read),
  route('index_stats', [`${api}/index/stats`], read),
  route('volume', [`${api}/index/volume`], read),
  route('volume_range', [`${api}/index/volume_range`], read),
  route('index_shards', [`${api}/index/shards`], read),
  route('detected_fields', [`${api}/detected_fields`], read),
  route('detected_field_values', [`${api}/detected_field/{name}/values`], read),
  route('detected_labels', [`${api}/detected_labels`], read),
  route('patterns', [`${api}/patterns`], read),
  route('format_query', [`${api}/format_query`], read),
  route('tail', [`${api}/tail`]),
  route('drilldown_limits', [`${api}/drilldown-limits`]),
  // Legacy read API, where it is more than an alias
  route('legacy_query', [`${legacy}/query`], read),
  route('legacy_tail', [`${legacy}/tail`]),
  // Writes
  route('push', [`${api}/push`, `${legacy}/push`], anyMethod, { ignoresBody: true }),
  route('delete', [`${api}/delete`], anyMethod),
  route('cache_generation', [`${api}/cache/generation_numbers`]),
  // Rules, alerts, config
  route('rules', [`${api}/rules`, `${legacy}/rules`]),
  route('rules_namespace', [`${api}/rules/{namespace}`, `${legacy}/rules/{namespace}`]),
  route('rules_group', [`${api}/rules/{namespace}/{group}`, `${legacy}/rules/{namespace}/{group}`]),
  route('pm_rules', [`${pm}/rules`]),
  route('alerts', [`${api}/alerts`, `${legacy}/alerts`]),
  route('pm_alerts', [`${pm}/alerts`]),
  route('tenant_limits', ['/config/tenant/v1/limits']),
  route('config', ['/config']),
  // Infrastructure
  route('ready', ['/ready']),
  route('alive', ['/alive']),
  route('livez', ['/livez']),
  route('health', ['/health']),
  route('healthz', ['/healthz']),
  route('services', ['/services']),
  route('log_level', ['/log_level']),
  route('ring', ['/ring']),
  route('buildinfo', [`${api}/status/buildinfo`]),
  route('metrics', ['/metrics'], ['GET'], { listener: 'metrics', isInstrumentation: true }),
  // Admin and debug
  route('debug_queries', ['/debug/queries'], ['GET'], { listener: 'admin' }),
  route('debug_explain', ['/debug/explain'], read, aboutQuery),
  route('debug_pprof', ['/debug/pprof/', '/debug/pprof/{profile}'], read, { listener: 'admin' }),
  route('admin_reload', ['/admin/reload'], ['POST'], { listener: 'admin' }),
  route('admin_mirror', ['/admin/mirror'], ['GET'], { listener: 'admin' }),
  route('admin_pipeline', ['/admin/pipeline'], ['GET'], { listener: 'admin' }),
  route('cache_flush', ['/admin/cache/flush'], ['POST'], { listener: 'admin', isInstrumentation: true }),
  // User interface
  route('ui', ['/ui', '/ui/', '/ui/{file}'], ['GET'], { listener: 'admin', isOpen: true }),
  route('ui_pipeline', ['/ui/api/pipeline'], ['GET'], { listener: 'admin' }),
  route('ui_explain', ['/ui/api/explain'], read, aboutQuery),
  route('ui_query_range', ['/ui/api/query_range'], read, { listener: 'admin' }),
  route('ui_tail', ['/ui/api/tail'], ['GET'], { listener: 'admin' }),
  route('ui_labels', ['/ui/api/labels'], read, aboutQuery),
  route('ui_label_values', ['/ui/api/label/{name}/values'], read, aboutQuery),
  route('ui_fields', ['/ui/api/detected_fields'], read, aboutQuery),
  route('ui_field_values', ['/ui/api/detected_field/{name}/values'], read, { listener: 'admin' }),
  route('ui_top_values', ['/ui/api/top_values'], read, { listener: 'admin' }),
  route('ui_volume', ['/ui/api/volume'], read, aboutQuery),
  route('ui_volume_range', ['/ui/api/volume_range'], read, { listener: 'admin' }),
  route('ui_patterns', ['/ui/api/patterns'], read, { listener: 'admin' }),
  route('ui_format', ['/ui/api/format_query'], read, aboutQuery),
  route('ui_check', ['/ui/api/check'], read, aboutQuery),
  route('ui_outline', ['/ui/api/outline'], read, aboutQuery),
  route('ui_edit', ['/ui/api/edit'], read, aboutQuery),
  route('ui_narrowing', ['/ui/api/narrowing'], read, aboutQuery),
  route('ui_run', ['/ui/api/run'], ['GET'], { listener: 'admin' }),
  // Peer cache
  route('peer_get', ['/_cache/get']),
  route('peer_set', ['/_cache/set'], ['POST'], { ignoresBody: true }),
  route('peer_has', ['/_cache/has']),
  route('peer_hot', ['/_cache/hot']),
  route('peer_peers', ['/_cache/peers']),
  route('peer_purge', ['/_cache/purge'], ['POST'], { ignoresBody: true }),
  route('worker_get', ['/_cache/get'], ['GET'], { listener: 'workers' }),
  route('worker_set', ['/_cache/set'], ['POST'], { listener: 'workers', ignoresBody: true }),
];

export const routeById: ReadonlyMap<string, Route> = new Map(routes.map((entry) => [entry.id, entry]));

/** The label that logs and metrics show for a route. */
export function routeLabel(entry: Route): string {
  return entry.paths[0];
}
