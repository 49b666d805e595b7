import test from 'ava';
import type { PatternSearch, PatternsRequest } from '../../../../core/wire/api/discovery-request.js';
import { Selector } from '../../../../core/wire/api/query.js';
import type { Answer } from '../../../../core/wire/answer/types.js';
import type { ExpectedCall } from '../../../../core/testing/index.js';
import { MemoryAccount } from '../../../../core/base/memory/account.js';
import type { BackendRow } from '../../../../core/victoria/upstream/types.js';
import { runDiscovery } from '../discovery-run.js';

const startNs = 1_793_491_200_000_000_000n;
const second = 1_000_000_000n;
const start = Number(startNs / second);

function patterns(
  search: Partial<PatternSearch> = {},
  change: Partial<PatternsRequest> = {},
): PatternsRequest {
  return {
    op: 'patterns',
    range: { startNs, endNs: startNs + 600n * second },
    query: new Selector('{app="a"}', 'reject'),
    stepNs: 60n * second,
    limit: 1000,
    search: { maxRows: 1000, secondPassMaxRows: 0, secondPassMaxWindows: 0, custom: [], ...search },
    ...change,
  };
}

function timeText(seconds: number): string {
  return new Date((start + seconds) * 1000).toISOString().replace('.000', '');
}

function histogram(...counts: readonly (readonly [seconds: number, lines: number])[]): ExpectedCall {
  return {
    call: 'rows',
    batches: [counts.map(([seconds, lines]) => ({ _time: timeText(seconds), lines: String(lines) }))],
  };
}

function lines(count: number, from: number, text: (index: number) => string): readonly BackendRow[] {
  return Array.from({ length: count }, (_line, index) => ({
    _time: timeText(from + (index % 60)),
    _stream: '{app="a"}',
    _msg: text(index),
    level: 'info',
  }));
}
const job = (index: number): string => `job ${index} is done`;

function shown(answer: Answer): unknown {
  return (
    answer.kind === 'patterns' &&
    answer.patterns.map(({ pattern, level, samples }) => [pattern, level, samples])
  );
}

test('lines are clustered and counted by bucket, with zeros between', async (t) => {
  const { answer } = await runDiscovery(patterns(), [
    histogram([0, 30], [120, 10]),
    { call: 'rows', batches: [lines(30, 0, job), lines(10, 120, job)] },
  ]);
  t.deepEqual(shown(answer), [
    [
      'job <_> is done',
      'info',
      [
        [start, 30],
        [start + 60, 0],
        [start + 120, 10],
      ],
    ],
  ]);
});

test('patterns of less than thirty lines are not shown', async (t) => {
  const { answer } = await runDiscovery(patterns(), [
    histogram([0, 29]),
    { call: 'rows', batches: [lines(29, 0, job)] },
  ]);
  t.deepEqual(shown(answer), []);
});

test('beyond the budget lines are sampled by window, and stand for all lines there', async (t) => {
  const { answer, queries } = await runDiscovery(patterns({ maxRows: 20 }), [
    histogram([0, 3000], [60, 1000]),
    { call: 'rows', when: ({ newest }) => newest === 10, batches: [lines(10, 0, job)] },
    {
      call: 'rows',
      when: ({ newest }) => newest === 10,
      batches: [lines(10, 60, (index) => `task ${index} was lost`)],
    },
  ]);
  t.is(queries.length, 3);
  t.deepEqual(shown(answer), [
    ['job <_> is done', 'info', [[start, 3000]]],
    ['task <_> was lost', 'info', [[start + 60, 1000]]],
  ]);
});

test('the windows that were read least get a second look at older lines', async (t) => {
  const older: (bigint | undefined)[] = [];
  const { answer } = await runDiscovery(
    patterns({ maxRows: 10, secondPassMaxRows: 40, secondPassMaxWindows: 1 }),
    [
      histogram([0, 500]),
      { call: 'rows', when: ({ newest }) => newest === 10, batches: [lines(10, 30, job)] },
      {
        call: 'rows',
        when: ({ newest, range }) => newest === 40 && older.push(range.endNs) > 0,
        batches: [lines(40, 0, (index) => `task ${index} was lost`)],
      },
    ],
  );
  t.deepEqual(older, [startNs + 30n * second]);
  t.deepEqual(shown(answer), [
    ['task <_> was lost', 'info', [[start, 400]]],
    ['job <_> is done', 'info', [[start, 100]]],
  ]);
});

test('patterns of the operator come first, with the lines they match and without a level', async (t) => {
  const { answer } = await runDiscovery(patterns({ custom: ['nothing <_>', 'job <_> is done'] }), [
    histogram([0, 40]),
    { call: 'rows', batches: [lines(40, 0, job)] },
  ]);
  t.deepEqual(shown(answer), [
    ['nothing <_>', undefined, []],
    ['job <_> is done', undefined, [[start, 40]]],
  ]);
});

test('without lines there are only the patterns of the operator', async (t) => {
  const { answer } = await runDiscovery(patterns({ custom: ['x'] }), [histogram()]);
  t.deepEqual(shown(answer), [['x', undefined, []]]);
});

test('a reversed range asks nothing and has no patterns', async (t) => {
  const { answer } = await runDiscovery(patterns({}, { range: { startNs, endNs: startNs - second } }), []);
  t.deepEqual(shown(answer), []);
});

test('a limit keeps the patterns with most lines', async (t) => {
  const { answer } = await runDiscovery(patterns({}, { limit: 1 }), [
    histogram([0, 90]),
    { call: 'rows', batches: [lines(40, 0, job), lines(50, 0, (index) => `task ${index} was lost`)] },
  ]);
  t.deepEqual(shown(answer), [['task <_> was lost', 'info', [[start, 50]]]]);
});

test('only what tells stream, level and message is read of a row', async (t) => {
  const { queries } = await runDiscovery(patterns(), [histogram([0, 1]), { call: 'rows', batches: [[]] }]);
  t.regex(queries[1] ?? '', /\| fields /);
});

test('a line that was parsed away is found by the message among its fields', async (t) => {
  const missing =
    'missing _msg field; see https://docs.victoriametrics.com/victorialogs/keyconcepts/#message-field';
  const rows = lines(30, 0, () => missing).map((row, index) => ({ ...row, msg: job(index) }));
  const { answer } = await runDiscovery(patterns(), [histogram([0, 30]), { call: 'rows', batches: [rows] }]);
  t.deepEqual(shown(answer), [['<_>job <_> is done<_>', 'info', [[start, 30]]]]);
});

test('lines and samples count towards the memory of the query', async (t) => {
  const long = lines(200, 0, (index) => `${job(index)} ${'x'.repeat(2_900)}`);
  const answered = [histogram([0, 200]), { call: 'rows', batches: [long] }] as const;
  const ofLines = runDiscovery(patterns(), answered, { memory: new MemoryAccount(300_000) });
  t.regex((await t.throwsAsync<Error>(ofLines)).message, /log lines/);

  const years = { startNs, endNs: startNs + 400_000n * second };
  const apart = Array.from({ length: 130 }, (_line, index) => lines(1, index * 3_000, job)).flat();
  const request = patterns({}, { range: years, stepNs: second });
  const ofSamples = runDiscovery(request, [histogram([0, 130]), { call: 'rows', batches: [apart] }], {
    memory: new MemoryAccount(300_000),
  });
  t.regex((await t.throwsAsync<Error>(ofSamples)).message, /samples of patterns/);
});
