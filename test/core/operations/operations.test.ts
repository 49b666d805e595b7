import test from 'ava';
import { mapSelectors, operationOf, operations, oversizedText } from '../../../core/operations/index.js';
import { makeMatcher } from '../../../core/logql/index.js';
import { type ApiRequest, type Operation, Query, Selector } from '../../../core/wire/api/request.js';
import { requestOf, requestSamples } from '../cache/samples.js';

const all = Object.keys(operations) as readonly Operation[];

/** A request that selects `{app="a"}`. */
function selecting(op: Operation): ApiRequest {
  const selector = new Selector('{app="a"}', 'reject');
  const query = firstOf(op) instanceof Query ? new Query('{app="a"}', 'reject') : selector;
  return requestOf(op, { query, selectors: [selector] });
}

function firstOf(op: Operation): unknown {
  const { query } = requestSamples[op] as { readonly query?: readonly unknown[] };
  return query?.find((value) => value !== undefined);
}

function those(holds: (op: Operation) => boolean): readonly Operation[] {
  return all.filter(holds);
}

test('a matcher is added to all that selects logs', (t) => {
  const env = makeMatcher('env', '=', 'prod');
  const changed = those((op) => {
    const texts = textsOf(mapSelectors(selecting(op), (matchers) => [...matchers, env]));
    return texts.length > 0 && texts.every((text) => text === '{app="a", env="prod"}');
  });
  t.deepEqual(
    all.filter((op) => !changed.includes(op)),
    ['format_query', 'deletions', 'tenant'],
  );
});

test('a listing of everything gets a selector from matchers that are made of nothing', (t) => {
  const listings = ['labels', 'label_values', 'series', 'detected_labels'] as const;
  for (const op of listings) {
    const request = requestOf(op);
    t.deepEqual(
      textsOf(mapSelectors(request, () => [makeMatcher('env', '=', 'prod')])),
      ['{env="prod"}'],
      op,
    );
    t.deepEqual(textsOf(mapSelectors(request, () => [])), [], op);
  }
});

function textsOf(request: ApiRequest): readonly string[] {
  return operationOf(request).selection.texts(request);
}

test('the length of every text that a client writes is bounded', (t) => {
  t.deepEqual(
    those((op) => oversizedText(selecting(op), 8) === undefined),
    ['deletions', 'tenant'],
  );
  t.deepEqual(
    those(
      (op) => oversizedText(selecting(op), 9) !== undefined || oversizedText(selecting(op), 0) !== undefined,
    ),
    [],
  );
});

test('what is older than a tenant may look back is not asked for', (t) => {
  const range = { startNs: 10n, endNs: 20n };
  const request = (op: Operation): ApiRequest => requestOf(op, { range, timeNs: 20n, query: logs(op) });
  const within = (op: Operation, oldestNs: bigint): ApiRequest | undefined =>
    operationOf(request(op)).limits.within(request(op), oldestNs);
  t.deepEqual(
    those((op) => within(op, 21n) !== undefined),
    ['format_query', 'delete', 'deletions', 'tenant'],
  );
  const shortened = those((op) => {
    const left = within(op, 15n);
    return left !== undefined && 'range' in left && left.range.startNs === 15n && left.range.endNs === 20n;
  });
  t.deepEqual(
    all.filter((op) => !shortened.includes(op)),
    ['query', 'format_query', 'delete', 'deletions', 'tenant'],
  );
});

/** A metric query for `query`, which refuses log queries; the first sample for all other operations. */
function logs(op: Operation): unknown {
  return op === 'query' ? new Query('rate({app="a"}[1m])', 'reject') : firstOf(op);
}

test('an expression without logs may be evaluated at any time', (t) => {
  for (const op of ['query', 'query_range'] as const) {
    const request = requestOf(op, { query: new Query('1+1', 'reject') });
    t.is(operationOf(request).limits.within(request, 100n), request);
  }
});

test('everything but a tail and a deletion ends with the timeout of its tenant', (t) => {
  t.deepEqual(
    those((op) => !operations[op].limits.isTimed),
    ['tail', 'delete'],
  );
});

test('the bytes that queries read are bounded', (t) => {
  t.deepEqual(
    those((op) => operations[op].limits.bytesRead !== undefined),
    ['query_range', 'query'],
  );
});

test('every operation answers in its own form when there is nothing to see', (t) => {
  const kinds = Object.entries({
    query_range: 'streams',
    query: 'vector',
    labels: 'names',
    label_values: 'names',
    series: 'series',
    index_stats: 'index-stats',
    index_shards: 'shards',
    volume: 'volume',
    volume_range: 'volume',
    detected_labels: 'detected-labels',
    detected_fields: 'detected-fields',
    detected_field_values: 'detected-field-values',
    patterns: 'patterns',
    format_query: 'streams',
    tail: 'streams',
    delete: 'streams',
    tenant: 'streams',
  });
  for (const [op, kind] of kinds) {
    const request = requestOf(op as Operation);
    t.is<string, string>(operationOf(request).empty(request).kind, kind, op);
  }
  const metric = requestOf('query_range', { query: new Query('rate({app="a"}[1m])', 'reject') });
  t.is(operationOf(metric).empty(metric).kind, 'matrix');
});
