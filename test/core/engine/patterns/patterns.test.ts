import test from 'ava';
import type { TimeRange } from '../../../../core/base/time/range.js';
import { type PatternSearch, type PatternsRequest, Selector } from '../../../../core/wire/api/request.js';
import type { Answer } from '../../../../core/wire/answer/types.js';
import { FakeClock, type ExpectedCall, type WrittenRow } from '../../../../core/testing/index.js';
import { MemoryAccount } from '../../../../core/base/memory/account.js';
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

type Count = readonly [seconds: number, lines: number];

function counted(...counts: readonly Count[]): readonly (readonly WrittenRow[])[] {
  return [counts.map(([seconds, lines]) => ({ _time: timeText(seconds), rows: String(lines) }))];
}

function histogram(...counts: readonly Count[]): ExpectedCall {
  return { call: 'rows', batches: counted(...counts) };
}

function lines(count: number, from: number, text: (index: number) => string): readonly WrittenRow[] {
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

test('recent patterns are learnt from the last three hours, and only lines of the range are counted', async (t) => {
  const asked: (readonly [bigint, bigint])[] = [];
  const when = ({ range }: { readonly range: TimeRange }): boolean =>
    asked.push([(range.startNs - startNs) / second, (range.endNs - startNs) / second]) > 0;
  const before = lines(5, -1_000, (index) => `task ${index} is gone`);
  const within = lines(40, 0, (index) => `task ${index} is done`);
  const later = lines(5, 700, (index) => `task ${index} is lost`);
  const { answer } = await runDiscovery(
    patterns(),
    [
      { call: 'rows', when, batches: counted([-1_020, 5], [0, 40], [660, 5]) },
      { call: 'rows', when, batches: [[...before, ...within, ...later]] },
    ],
    { clock: new FakeClock(startNs + 900n * second) },
  );
  t.deepEqual(asked, [
    [-9_900n, 900n],
    [-1_020n, 720n],
  ]);
  t.deepEqual(shown(answer), [['task <_> is <_>', 'info', [[start, 40]]]]);
});

test('what is too much to learn from is left out, and the range read on its own', async (t) => {
  const { answer, queries } = await runDiscovery(
    patterns({ maxRows: 50 }),
    [
      histogram([-1_020, 50], [0, 40]),
      histogram([0, 40]),
      { call: 'rows', when: ({ range }) => range.startNs === startNs, batches: [lines(40, 0, job)] },
    ],
    { clock: new FakeClock(startNs + 600n * second) },
  );
  t.is(queries.length, 3);
  t.deepEqual(shown(answer), [['job <_> is done', 'info', [[start, 40]]]]);
});

test('the ten seconds that begin in the range are counted, and no zero is shown at that step or over an hour', async (t) => {
  const minutes = [0, 11, 30, 3_590, 3_605, 7_300];
  const rows = minutes.flatMap((seconds) =>
    lines(10, seconds, () => 'job 1 is done').map((row) => ({ ...row, _time: timeText(seconds) })),
  );
  const range = { startNs: startNs + second, endNs: startNs + 7_301n * second };
  const ask = async (stepNs: bigint): Promise<unknown> => {
    const calls: ExpectedCall[] = [
      {
        call: 'rows',
        when: ({ range: asked }) =>
          asked.startNs === startNs + 10n * second && asked.endNs === startNs + 7_310n * second,
        batches: counted([0, 50]),
      },
      { call: 'rows', batches: [rows.slice(10)] },
    ];
    const { answer } = await runDiscovery(patterns({}, { range, stepNs }), calls);
    return (
      answer.kind === 'patterns' &&
      answer.patterns.map(({ samples }) => samples.map(([seconds, count]) => [seconds - start, count]))
    );
  };
  t.deepEqual(await ask(10n * second), [
    [
      [10, 10],
      [30, 10],
      [3_590, 10],
      [3_600, 10],
      [7_300, 10],
    ],
  ]);
  t.deepEqual(await ask(1_800n * second), [
    [
      [0, 20],
      [1_800, 10],
      [3_600, 10],
      [7_200, 10],
    ],
  ]);
  t.deepEqual(await ask(1_200n * second), [
    [
      [0, 20],
      [1_200, 0],
      [2_400, 10],
      [3_600, 10],
      [7_200, 10],
    ],
  ]);
});

test('a level of its own name is unknown, as it is to Loki', async (t) => {
  const rows = lines(30, 0, job).map((row) => ({ ...row, level: 'Notice' }));
  const { answer } = await runDiscovery(patterns(), [histogram([0, 30]), { call: 'rows', batches: [rows] }]);
  t.deepEqual(shown(answer), [['job <_> is done', 'unknown', [[start, 30]]]]);
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

test('lines of rows without one are read with all their fields, which tell format, message and level', async (t) => {
  const missing =
    'missing _msg field; see https://docs.victoriametrics.com/victorialogs/keyconcepts/#message-field';
  const rows = lines(31, 0, () => missing).map((row, index): Readonly<Record<string, string>> => ({
    _time: row['_time'] ?? '',
    _stream: row['_stream'] ?? '',
    _msg: row['_msg'] ?? '',
    ...(index === 0 ? { status: 'x' } : { msg: job(index), note: 'error 5' }),
  }));
  const { answer, queries } = await runDiscovery(patterns(), [
    histogram([0, 31]),
    { call: 'rows', batches: [rows.slice(0, 1)] },
    { call: 'rows', batches: [rows] },
  ]);
  t.notRegex(queries[2] ?? '', /\| fields /);
  t.deepEqual(shown(answer), [['<_>job <_> is done<_>', 'error', [[start, 30]]]]);
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
