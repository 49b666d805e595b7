import test from 'ava';
import { startDevBackend } from '../../plugins/embedded-backend/dev-backend.js';
import type { RunningProxy } from '../../core/program/start-proxy.js';
import { spreadSample } from '../setup/runs.js';
import { readCases, type GoldenCase } from './cases.js';
import { asObject } from '../../core/comparison/json.js';
import { loadParsedData } from './load-data.js';
import { replay } from './replay.js';
import { ask, storeRows } from './store-rows.js';
import { openProxy, type Store } from './target.js';

let store: Store;
let proxy: RunningProxy;

test.before('the corpus is in the store, JSON lines taken apart', async (t) => {
  t.timeout(900_000);
  store = await startDevBackend();
  await loadParsedData(store.url);
  proxy = await openProxy(store);
});

test.after.always(async () => {
  await proxy.close();
  await store.close();
});

const families: ReadonlySet<string> = new Set([
  'selector',
  'line-filter',
  'labels',
  'label-values',
  'series',
  'index-stats',
  'time-bounds',
  'parser-logfmt',
  'label-filter',
  'range-agg',
]);
const jsonServices = /api-gateway|payments|edge-cases|blank-lines/;

interface LogBody {
  readonly data: { readonly result: readonly { readonly values: readonly (readonly [string, string])[] }[] };
}

test.serial(
  'a line that was taken apart is an object of its fields again, leaves by their path',
  async (t) => {
    const times = {
      start: '1793491200000000000',
      end: '1793491214231538564',
      limit: '5000',
      direction: 'forward',
    };
    const query = '{service_name="api-gateway", pod="api-gateway-1", level="info"}';
    const { body } = await ask(
      proxy.urls.main,
      'query_range',
      { ...times, query },
      { 'x-scope-orgid': 't1' },
    );
    // The body has the shape of a Loki log response.
    const { data } = body as unknown as LogBody;
    const lines = new Map(data.result.flatMap(({ values }) => values.map(([time, line]) => [time, line])));
    t.deepEqual(JSON.parse(lines.get('1793491200053283434') ?? ''), {
      bytes: '223345',
      duration_ms: '377.851',
      method: 'GET',
      msg: 'request served',
      path: '/api/v2/search?q=shoes&page=2',
      remote_addr: '10.0.51.80',
      status: '200',
      ts: '2026-11-01T00:00:00.053Z',
      'user.id': '26',
      'user.name': 'erin',
    });
    t.like(JSON.parse(lines.get('1793491214231538563') ?? ''), {
      trace_id: '2a634dd7dda9c542b4b11e6a983c6537',
      tags: '["edge","us","v2"]',
      cached: 'true',
    });
  },
);

test.serial('filters and parsers see the rebuilt line, and its fields are no metadata', async (t) => {
  const count = async (stages: string): Promise<unknown> => {
    const query = `sum(count_over_time({service_name="api-gateway"} ${stages} [6h]))`;
    const at = { query, time: '1793512800' };
    const { body } = await ask(proxy.urls.main, 'query', at, { 'x-scope-orgid': 't1' });
    // The body has the shape of a Loki vector.
    const { data } = body as unknown as {
      readonly data: { readonly result: readonly { readonly value: readonly [number, string] }[] };
    };
    return Number(data.result[0]?.value[1] ?? 0);
  };
  const served = await count('|= "request served"');
  t.true(Number(served) > 100);
  t.is(await count('| json | msg="request served"'), served);
  t.is(await count('| msg="request served"'), 0);
  t.is(await count('| json | msg_extracted="request served"'), 0);
  const all = Number(await count(''));
  t.is(await count('| msg!="request served"'), all);
  t.is(await count('| msg=""'), all);
  t.is(Number(await count('!= "request served"')) + Number(served), all);
});

/** Fields of a parsed line count as metadata, and are shorter than the line was. */
function withoutBytes({ request, golden }: GoldenCase): GoldenCase {
  if (request.family !== 'index-stats' || golden.status !== 200) return { request, golden };
  const body = Object.fromEntries(Object.entries(asObject(golden.body)).filter(([name]) => name !== 'bytes'));
  return { request, golden: { ...golden, body } };
}

test.serial(
  'lines that are no JSON are not touched, and labels and counts are those of the other form',
  async (t) => {
    t.timeout(120_000);
    const cases = readCases('http').filter(
      ({ request, golden }) =>
        families.has(request.family) &&
        (/^(labels|label-values|series|index-stats)$/.test(request.family) ||
          !jsonServices.test(JSON.stringify([request.params, golden.body]))),
    );
    const outcomes = await replay(proxy.urls.main, spreadSample(cases, 11, 3).map(withoutBytes));
    t.deepEqual(
      outcomes
        .filter(({ difference }) => difference !== undefined)
        .map(
          ({ request, difference }) => `${request.id} ${JSON.stringify(request.params)}: ${difference ?? ''}`,
        ),
      [],
    );
    t.true(cases.length > 60, String(cases.length));
  },
);

test.serial('a word of a level in any field of a rebuilt line is its level', async (t) => {
  const rows = [
    { app: 'a', _time: '2026-11-01T00:10:00Z', a: 'an error happened', msg: 'Info: started' },
    { app: 'a', _time: '2026-11-01T00:11:00Z', a: 'nothing to see', msg: 'Warning: late' },
    { app: 'a', _time: '2026-11-01T00:12:00Z', _msg: 'stored', a: 'an error happened' },
  ];
  const backend = await storeRows(['app'], rows);
  const other = await openProxy(backend);
  try {
    const found = async (stage: string): Promise<readonly string[]> => {
      const { body } = await ask(other.urls.main, 'query_range', { query: `{app="a"} | ${stage}` });
      const { data } = body as unknown as LogBody;
      return data.result.flatMap(({ values }) => values.map(([, line]) => line));
    };
    t.deepEqual(await found('detected_level="error"'), ['{"a":"an error happened","msg":"Info: started"}']);
    t.deepEqual(await found('detected_level=~"fatal|warn"'), [
      '{"a":"nothing to see","msg":"Warning: late"}',
    ]);
  } finally {
    await other.close();
    await backend.close();
  }
});
