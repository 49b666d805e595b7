import test from 'ava';
import { request } from 'undici';
import { startDevBackend } from '../../../plugins/embedded-backend/dev-backend.js';
import { startFakeVictoriaLogs, withProxyFile } from '../../../core/testing/index.js';

type Params = readonly (readonly [name: string, value: string])[];

const list = (count: number, item: (at: number) => string, separator: string): string =>
  Array.from({ length: count }, (_, at) => item(at)).join(separator);
const words = (count: number): string => list(count, (at) => `w${at}`, '|');
const assignments = (count: number): string => list(count, (at) => `l${at}="{{.a}}"`, ',');
const selectors = (count: number): Params =>
  Array.from({ length: count }, (_, at) => ['match[]', `{a="${at}"}`] as const);
const targets = (count: number): Params => [
  ['query', '{a="b"}'],
  ['targetLabels', list(count, (at) => `l${at}`, ',')],
];
const logs = (stages: string): Params => [['query', `{a="b"} ${stages}`]];

/** Requests that would block the event loop: each has a limit, and an error for one more than that. */
const cases: readonly (readonly [
  what: string,
  path: string,
  limit: number,
  made: (count: number) => Params,
  text: string,
])[] = [
  [
    'alternatives of a line filter',
    'query_range',
    2_000,
    (count) => logs(`|~ "${words(count)}"`),
    'the filters of a query may have at most 2000 alternatives in total, and this query has 2001',
  ],
  [
    'alternatives of several filters',
    'query_range',
    2_000,
    (count) => logs(`|~ "${words(1_000)}" or "x" | json | a="b" or c=~"${words(count - 1_001)}"`),
    'the filters of a query may have at most 2000 alternatives in total, and this query has 2001',
  ],
  [
    'labels of label_format',
    'query_range',
    500,
    (count) => logs(`| label_format ${assignments(300)} | label_format ${assignments(count - 300)}`),
    'label_format may create at most 500 labels in a query, and this query creates 501',
  ],
  [
    'selectors of series',
    'series',
    1_000,
    selectors,
    'a series request may have at most 1000 different match[] selectors, and this one has 1001; split the request, or combine selectors with regular expressions',
  ],
  [
    'target labels of volumes',
    'index/volume',
    1_000,
    targets,
    'targetLabels may have at most 1000 names, and this request has 1001',
  ],
  [
    'target labels of volumes over time',
    'index/volume_range',
    1_000,
    targets,
    'targetLabels may have at most 1000 names, and this request has 1001',
  ],
];

test.serial(
  'what would hold the event loop is refused with the limit, and asks the backend for nothing',
  async (t) => {
    const embedded = await startDevBackend();
    const backend = await startFakeVictoriaLogs({ forwardTo: embedded.url });
    try {
      await withProxyFile(
        'pipelines/minimal.yaml',
        async ({ url }) => {
          for (const [what, path, limit, made, text] of cases) {
            const ask = async (count: number): Promise<readonly [number, string]> => {
              const { statusCode, body } = await request(`${url}/loki/api/v1/${path}`, {
                method: 'POST',
                headers: { 'content-type': 'application/x-www-form-urlencoded' },
                body: new URLSearchParams(
                  made(count).map(([name, value]): [string, string] => [name, value]),
                ).toString(),
              });
              return [statusCode, await body.text()];
            };
            const [taken, answer] = await ask(limit);
            t.is(taken, 200, `${what}: ${answer.slice(0, 300)}`);
            const before = backend.calls.length;
            const [refused, told] = await ask(limit + 1);
            t.is(refused, 400, what);
            t.true(told.includes(text), `${what}: ${told}`);
            t.is(backend.calls.length, before, what);
          }
        },
        { flags: { backend: backend.url } },
      );
    } finally {
      await backend.close();
      await embedded.close();
    }
  },
);
