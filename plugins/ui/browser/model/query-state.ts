/** The state of the query box, and its form in the page's URL. */

export const ranges = ['15m', '1h', '6h', '24h', 'custom'] as const;
export type RangeName = (typeof ranges)[number];
export type Direction = 'backward' | 'forward';

export interface QueryState {
  readonly query: string;
  readonly range: RangeName;
  /** ISO 8601 in UTC; only used when the range is custom. */
  readonly from: string;
  readonly to: string;
  readonly limit: number;
  readonly direction: Direction;
  readonly tenant: string;
}

export const emptyQuery: QueryState = {
  query: '',
  range: '1h',
  from: '',
  to: '',
  limit: 100,
  direction: 'backward',
  tenant: '',
};

/** The part after `#` of the page's URL; defaults are left out. */
export function printHash(state: QueryState): string {
  const params = new URLSearchParams({ query: state.query });
  if (state.range !== emptyQuery.range) params.set('range', state.range);
  if (state.range === 'custom') {
    params.set('from', state.from);
    params.set('to', state.to);
  }
  if (state.limit !== emptyQuery.limit) params.set('limit', String(state.limit));
  if (state.direction !== emptyQuery.direction) params.set('direction', state.direction);
  if (state.tenant !== '') params.set('tenant', state.tenant);
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
    from: isoOf(params.get('from')),
    to: isoOf(params.get('to')),
    limit: Number.isInteger(limit) && limit > 0 ? limit : emptyQuery.limit,
    direction: params.get('direction') === 'forward' ? 'forward' : 'backward',
    tenant: params.get('tenant') ?? '',
  };
}

function isoOf(text: string | null): string {
  const ms = Date.parse(text ?? '');
  return Number.isNaN(ms) ? '' : new Date(ms).toISOString();
}
