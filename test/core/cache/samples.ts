/** Values for every field of every request, caller and tenant. A new field does not compile until it has values here. */
import type { Caller, Tenant } from '../../../core/base/caller.js';
import type { Whole } from '../../../core/base/key-parts.js';
import type { RequestOf } from '../../../core/operations/index.js';
import { type ApiRequest, type Operation, Query, Selector } from '../../../core/wire/api/request.js';

/** At least two, all different. */
type Values<Value> = readonly [Value, Value, ...Value[]];
type Samples<Fields> = {
  readonly [Name in keyof Fields]-?: [NonNullable<Fields[Name]>] extends [Whole]
    ? Values<Fields[Name]>
    : Samples<NonNullable<Fields[Name]>>;
};

const queries: Values<Query> = [
  new Query('{app="a"}', 'reject'),
  new Query('{app="b"}', 'reject'),
  new Query('rate({app="a"}[1m])&limit=2', 'reject'),
];
const selectors: Values<Selector> = [
  new Selector('{app="a"}', 'reject'),
  new Selector('{app="b"}', 'reject'),
  new Selector('{}', 'reject'),
];
const maybeSelectors: Values<Selector | undefined> = [undefined, ...selectors];
const ranges = { startNs: [1n, 2n], endNs: [3n, 4n] } as const;
const names = ['app', 'level', '', 'app&limit=2', 'a:b', 'é'] as const;
const lists = [
  [],
  ['app'],
  ['level'],
  ['app', 'level'],
  ['level', 'app'],
  [''],
  ['', ''],
  ['app,level'],
] as const;
const browse = {
  limit: [undefined, 1, 2],
  offset: [undefined, 1, 2],
  search: [undefined, 'a', 'b', ''],
} as const;
const flags = [undefined, true] as const;
const directions = ['backward', 'forward'] as const;
const volume = {
  range: ranges,
  query: selectors,
  limit: [1, 2],
  targetLabels: lists,
  aggregateBy: ['series', 'labels'],
} as const;
const scan = { range: ranges, query: queries, limit: [1, 2], lineLimit: [1, 2] } as const;

export const requestSamples: { readonly [Op in Operation]: Samples<Omit<RequestOf<Op>, 'op'>> } = {
  query_range: {
    query: queries,
    range: ranges,
    stepNs: [1n, 2n],
    limit: [1, 2],
    direction: directions,
    intervalNs: [0n, 1n],
    isPart: flags,
    part: [undefined, 'window'],
  },
  query: { query: queries, timeNs: [1n, 2n], limit: [1, 2], direction: directions, isPart: flags },
  labels: { query: maybeSelectors, range: ranges, browse, isOpenRange: flags },
  label_values: { name: names, query: maybeSelectors, range: ranges, browse, isOpenRange: flags },
  series: {
    selectors: [[], [selectors[0]], [selectors[1]], [selectors[0], selectors[1]]],
    range: ranges,
    isOpenRange: flags,
  },
  index_stats: { query: selectors, range: ranges },
  index_shards: { query: queries, range: ranges, targetBytesPerShard: [1, 2] },
  volume,
  volume_range: { ...volume, stepNs: [1n, 2n] },
  detected_labels: { query: maybeSelectors, range: ranges },
  detected_fields: scan,
  detected_field_values: { ...scan, name: names },
  patterns: {
    query: selectors,
    range: ranges,
    stepNs: [1n, 2n],
    limit: [1, 2],
    search: { maxRows: [1, 2], secondPassMaxRows: [1, 2], secondPassMaxWindows: [1, 2], custom: lists },
  },
  format_query: { query: queries },
  tail: {
    query: queries,
    range: ranges,
    limit: [1, 2],
    delayNs: [0n, 1n],
    follow: {
      mode: ['auto', 'native'],
      refreshMs: [1, 2],
      reorderMs: [1, 2],
      lookbackMs: [1, 2],
      maxRemembered: [1, 2],
      openTimeoutMs: [1, 2],
    },
  },
  delete: { query: queries, range: ranges, around: [undefined, () => Promise.resolve({ taskId: '1' })] },
  deletions: {},
  tenant: {},
};

/** Settings that forward the header `authorization` to the backend. */
export const forwarding = { forwardAuthorization: true, forwardHeaders: [], forwardCookies: [] };

export const callerSamples: Samples<Caller> = {
  method: ['GET', 'POST'],
  address: ['127.0.0.1', '127.0.0.2'],
  headers: [new Map(), new Map([['authorization', 'Bearer 1']]), new Map([['authorization', 'Bearer 2']])],
  orgId: [undefined, 'a'],
  categorizeLabels: [false, true],
  isBackground: [false, true],
  yields: [false, true],
  isDrilldown: [false, true],
};

export const tenantSamples: Samples<Tenant> = {
  id: ['a', 'b', '', 'a&accountId=1', 'a:b', '*'],
  accountId: [0, 1],
  projectId: [0, 1],
  streamField: [undefined, 'team', ''],
  forwardHeader: [false, true],
  mapping: ['', 'a', 'b'],
  limitIds: [undefined, ['a', 'b']],
  oldestNs: [undefined, 1n],
  hasNoData: flags,
};

/** A field, with its path through nested objects. */
export interface SampledField {
  readonly path: readonly string[];
  readonly values: readonly unknown[];
}

export function fieldsOf(samples: object, path: readonly string[] = []): readonly SampledField[] {
  return Object.entries<object>(samples as Readonly<Record<string, object>>).flatMap(([name, within]) =>
    Array.isArray(within) ? [{ path: [...path, name], values: within }] : fieldsOf(within, [...path, name]),
  );
}

/** An object with the first value of each field, except for one changed field; undefined values are left out. */
export function madeOf(samples: object, changed?: SampledField, value?: unknown): Record<string, unknown> {
  const made: Record<string, unknown> = {};
  for (const { path, values } of fieldsOf(samples)) {
    const isChanged = changed?.path.join('.') === path.join('.');
    put(made, path, isChanged ? value : values[0]);
  }
  return made;
}

function put(into: Record<string, unknown>, [name = '', ...rest]: readonly string[], value: unknown): void {
  if (rest.length > 0) put((into[name] ??= {}) as Record<string, unknown>, rest, value);
  else if (value !== undefined) into[name] = value;
}

/** A request made of samples; `change` overrides the fields that it has. */
export function requestOf(op: Operation, change: Readonly<Record<string, unknown>> = {}): ApiRequest {
  const known = Object.entries(change).filter(([name]) => name in requestSamples[op]);
  return { op, ...madeOf(requestSamples[op]), ...Object.fromEntries(known) } as ApiRequest;
}
