import test from 'ava';
import { readManifest } from '../../../plugins/cold-route/manifest.js';
import { spreadSample } from '../../setup/runs.js';
import { linesOf, minutes, withTwoBackends, type Line } from './two-backends.js';

const lines: { readonly hot: readonly Line[]; readonly cold: readonly Line[] } = {
  hot: [
    { minute: -5, text: 'level=info msg="in both" ms=5' },
    { minute: 180, text: 'level=error msg=young ms=7' },
  ],
  cold: [
    { minute: -300, text: 'level=info msg=oldest ms=1' },
    { minute: -180, text: 'level=error msg=old ms=3' },
    { minute: -5, text: 'level=info msg="in both" ms=5' },
  ],
};
const all = { query: '{app="shop"}', ...minutes(-400, 400) };

test('without the cold backend a request for old lines fails and names it, and one for young lines does not', async (t) => {
  await withTwoBackends(t, lines, {}, async ({ ask, manners }) => {
    manners.isDown = true;
    const failed = await ask('query_range', all);
    t.is(failed.status, 502);
    t.regex(failed.text, /cold backend: backend unreachable/);
    t.is((await ask('query_range', { ...all, ...minutes(100, 400) })).status, 200);
    t.is((await ask('labels', minutes(-400, 400))).status, 502);
  });
});

test('a cold backend that fails has a circuit breaker of its own', async (t) => {
  const flags = { 'cb-fail-threshold': '2' };
  await withTwoBackends(
    t,
    lines,
    {},
    async ({ ask, manners, metric }) => {
      manners.isDown = true;
      for (const to of [400, 401, 402]) await ask('query_range', { ...all, ...minutes(-400, to) });
      t.is(await metric('cold_circuit_breaker_state'), 1);
      t.is(await metric('circuit_breaker_state'), 0);
      const failed = await ask('query_range', { ...all, ...minutes(-400, 403) });
      t.is(failed.status, 502);
      t.regex(failed.text, /cold backend: .*circuit breaker is open/);
      t.is((await ask('query_range', { ...all, ...minutes(100, 400) })).status, 200);
    },
    flags,
  );
});

test('-cold-timeout bounds each call to the cold backend', async (t) => {
  await withTwoBackends(
    t,
    lines,
    {},
    async ({ ask, manners }) => {
      manners.hangs = true;
      const failed = await ask('query_range', all);
      t.is(failed.status, 504);
      t.regex(failed.text, /cold backend: /);
    },
    { 'cold-timeout': '50ms' },
  );
});

test('with -query-range-partial-responses hot lines come alone with a warning, which is not kept', async (t) => {
  await withTwoBackends(
    t,
    lines,
    {},
    async ({ ask, manners, metric, clock }) => {
      manners.isDown = true;
      const partial = await ask('query_range', all);
      t.is(partial.status, 200);
      t.is(linesOf(partial).length, 2);
      t.regex(JSON.stringify(partial.body['warnings']), /the cold backend could not be read/);
      const series = await ask('series', { 'match[]': '{app="shop"}', ...minutes(-400, 400) });
      t.is(series.status, 200);
      t.regex(series.text, /the cold backend could not be read/);
      t.regex((await ask('labels', minutes(-400, 400))).text, /the cold backend could not be read/);
      // Logs Drilldown requests each field at the same time, and gets all of them from one read of the rows.
      const fields = await Promise.all(
        ['level', 'ms', 'msg'].map((field) =>
          ask(
            'query_range',
            { ...all, query: `sum by (${field}) (count_over_time({app="shop"} | logfmt [1m]))`, step: '60' },
            { 'X-Query-Tags': 'Source=grafana-lokiexplore-app' },
          ),
        ),
      );
      for (const { status, text } of fields) {
        t.is(status, 200);
        t.regex(text, /the cold backend could not be read/);
      }
      t.true((await metric('cold_partial_answers_total')) >= 2);
      manners.isDown = false;
      // The circuit breaker lets calls through again.
      clock.advance(11_000);
      const whole = await ask('query_range', all);
      t.is(whole.body['warnings'], undefined);
      t.is(linesOf(whole).length, 4);
    },
    { 'query-range-partial-responses': 'true' },
  );
});

const questions: readonly (readonly [path: string, params: Readonly<Record<string, string>>])[] = [
  ['query_range', all],
  ['query_range', { ...all, direction: 'forward', limit: '2' }],
  ['query_range', { ...all, limit: '3' }],
  ['query_range', { ...all, query: '{app="shop"} |~ "in.?o|both" != "oldest"' }],
  [
    'query_range',
    { ...all, query: 'sum by (level) (count_over_time({app="shop"} | logfmt [1h]))', step: '600' },
  ],
  ['query_range', { ...all, query: 'sum by (app) (rate({app="shop"} |= "level" [1h]))', step: '600' }],
  [
    'query_range',
    { ...all, query: 'quantile_over_time(0.5, {app="shop"} | logfmt | unwrap ms [8h])', step: '600' },
  ],
  ['labels', minutes(-400, 400)],
  ['label/app/values', minutes(-400, 400)],
  ['series', { 'match[]': '{app="shop"}', ...minutes(-400, 400) }],
  ['index/stats', all],
  ['index/volume', all],
  ['index/volume_range', { ...all, step: '3600' }],
  ['detected_labels', all],
  ['detected_fields', all],
  ['detected_field/level/values', all],
  ['patterns', { ...all, step: '60' }],
];

const parsers: readonly (readonly [name: string, refuses: (query: string) => boolean])[] = [
  ['sorts', (query) => /\|\s*sort/.test(query)],
  ['pipes', (query) => query.includes('|')],
  ['all but selectors', (query) => !/^(?:\*|\{[^}]*\})$/.test(query)],
];

/** Responses with a cold backend that rejects nothing, by turn. */
const undamaged = new Map<number, Promise<readonly unknown[]>>();

for (const [index, [name, refuses]] of parsers.entries())
  test(`a cold backend that refuses ${name} makes no difference`, async (t) => {
    const turn = index % 2;
    const some = spreadSample(questions, 2, 1, turn);
    const answers = async (refusing?: (query: string) => boolean): Promise<readonly unknown[]> => {
      const found: unknown[] = [];
      const manners = refusing === undefined ? {} : { refuses: refusing };
      await withTwoBackends(t, lines, manners, async ({ ask, coldQueries }) => {
        for (const [path, params] of some) {
          const { status, body } = await ask(path, params);
          t.is(status, 200, `${path} ${params['query'] ?? ''}`);
          found.push([path, params['query'], answerOf(body)]);
        }
        t.true(coldQueries.length > some.length / 2);
        t.false(coldQueries.some((query) => /\|\s*sort/.test(query)));
      });
      return found;
    };
    const found = await answers(refuses);
    const expected = undamaged.get(turn) ?? answers();
    undamaged.set(turn, expected);
    t.deepEqual(found, await expected);
  });

test('lines are deleted from the hot backend only', async (t) => {
  await withTwoBackends(t, lines, {}, async ({ url, lines: read, coldQueries }) => {
    const params = new URLSearchParams({ query: '{app="shop"}', ...minutes(100, 400) }).toString();
    const answer = await fetch(`${url}/loki/api/v1/delete?${params}`, {
      method: 'POST',
      headers: { 'X-Delete-Confirmation': 'true' },
    });
    t.true(answer.status < 500);
    t.deepEqual(coldQueries, []);
    t.is((await read(-400, -100)).length, 2);
  });
});

test('only a manifest with whole times and counts is one', (t) => {
  const times = '"minTime":1793000000000000000,"maxTime":1793491200000000000';
  t.deepEqual(readManifest(`{${times},"totalFiles":2}`), { newestNs: 1_793_491_200_000_000_000n });
  t.deepEqual(readManifest('{"totalFiles":0}'), { newestNs: undefined });
  for (const nonsense of [
    '',
    'null',
    '[]',
    '{}',
    '{"totalFiles":2}',
    `{${times}}`,
    `{${times},"totalFiles":-1}`,
    `{${times},"totalFiles":1.5}`,
    '{"minTime":1793491200,"maxTime":1793491200,"totalFiles":2}',
    '{"minTime":1793491200000000000,"maxTime":1793000000000000000,"totalFiles":2}',
    '{"minTime":0,"maxTime":1e300,"totalFiles":2}',
  ])
    t.throws(() => readManifest(nonsense), undefined, nonsense);
});

/** The content of a response without its duration. */
function answerOf(body: Record<string, unknown>): unknown {
  const data = body['data'];
  if (typeof data !== 'object' || data === null || !('result' in data)) return body;
  return data.result;
}
