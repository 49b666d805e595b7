/** The state of the query box, and its form in the page's URL. */
import { storedTimeText } from './query/time-text.js';

export const ranges = [
  '5m',
  '15m',
  '30m',
  '1h',
  '3h',
  '6h',
  '12h',
  '24h',
  '2d',
  '7d',
  '30d',
  'custom',
] as const;
export type RangeName = (typeof ranges)[number];
/** Intervals at which the page runs its query again by itself. */
export const refreshes = ['off', '5s', '10s', '30s', '1m', '5m'] as const;
export type RefreshName = (typeof refreshes)[number];
export type Direction = 'backward' | 'forward';
/** The two views of the page. */
export type View = 'query' | 'pipeline';

export interface QueryState {
  readonly query: string;
  readonly range: RangeName;
  /** ISO 8601 in UTC, or relative to now as in `now-2h`; only used for a custom range. */
  readonly from: string;
  readonly to: string;
  /** The limit as entered; NaN if it is not a number. */
  readonly limit: number;
  readonly direction: Direction;
  readonly tenant: string;
  readonly refresh: RefreshName;
}

export const emptyQuery: QueryState = {
  query: '',
  range: '1h',
  from: '',
  to: '',
  limit: 100,
  direction: 'backward',
  tenant: '',
  refresh: 'off',
};

/** Maximum number of lines that a query may request. */
export const mostLines = 5_000;

export type Field = 'query' | 'limit' | 'range' | 'tenant';

/** The reason why a query cannot be run, and the field to correct. */
export interface Problem {
  readonly field: Field;
  readonly text: string;
}

/** Missing input of the form; `needsTenant` if the pipeline rejects requests without a tenant. */
export function problemOf(
  { query, limit, tenant }: QueryState,
  range: object | string,
  needsTenant: boolean,
): Problem | undefined {
  if (query.trim() === '')
    return { field: 'query', text: 'Write a query first, or start with one of these.' };
  if (needsTenant && tenant.trim() === '')
    return {
      field: 'tenant',
      text: 'This proxy requires a tenant with every request: fill in the field Tenant.',
    };
  if (!/^[\x20-\x7e]*$/.test(tenant))
    return { field: 'tenant', text: 'A tenant name has ASCII characters only.' };
  if (!Number.isInteger(limit) || limit < 1 || limit > mostLines)
    return { field: 'limit', text: 'The limit is a whole number from 1 to 5,000.' };
  if (typeof range === 'string') return { field: 'range', text: range };
  return undefined;
}

/** The part of the page's URL after `#`; defaults are omitted. */
export function printHash(state: QueryState, view: View = 'query'): string {
  const params = new URLSearchParams();
  if (view !== 'query') params.set('view', view);
  if (state.query !== '') params.set('query', state.query);
  if (state.range !== emptyQuery.range) params.set('range', state.range);
  if (state.range === 'custom') {
    params.set('from', state.from);
    params.set('to', state.to);
  }
  if (state.limit !== emptyQuery.limit) params.set('limit', String(state.limit));
  if (state.direction !== emptyQuery.direction) params.set('direction', state.direction);
  if (state.tenant !== '') params.set('tenant', state.tenant);
  if (state.refresh !== emptyQuery.refresh) params.set('refresh', state.refresh);
  return params.toString();
}

/** Parses the result of `printHash`; invalid parts get their defaults. */
export function parseHash(hash: string): QueryState {
  const params = new URLSearchParams(hash.replace(/^#/, ''));
  const range = ranges.find((name) => name === params.get('range')) ?? emptyQuery.range;
  const limit = Number(params.get('limit') ?? '');
  return {
    query: params.get('query') ?? '',
    range,
    from: storedTimeText(params.get('from') ?? ''),
    to: storedTimeText(params.get('to') ?? ''),
    limit: Number.isInteger(limit) && limit > 0 ? limit : emptyQuery.limit,
    direction: params.get('direction') === 'forward' ? 'forward' : 'backward',
    tenant: params.get('tenant') ?? '',
    refresh: refreshes.find((name) => name === params.get('refresh')) ?? emptyQuery.refresh,
  };
}

/** The view of the page given by a hash. */
export function viewOf(hash: string): View {
  return new URLSearchParams(hash.replace(/^#/, '')).get('view') === 'pipeline' ? 'pipeline' : 'query';
}
