import test from 'ava';
import type { Cost } from '../../../../core/base/trace.js';
import type { RunReport } from '../../../../core/engine/plan/explain/run.js';
import { makeHost } from '../../../../core/testing/index.js';
import { addFigures, figureTexts, formatShare } from '../../../../plugins/ui/browser/model/figures.js';
import { compareFlows } from '../../../../plugins/ui/browser/model/plan-compare.js';
import { flowOf, type Flow } from '../../../../plugins/ui/browser/model/plan-flow.js';
import { explainForPage, type PageExplanation } from '../../../../plugins/ui/explain.js';

function explained(query: string): Promise<PageExplanation> {
  return explainForPage(new Map([['query', [query]]]), makeHost(), undefined);
}

const call = { type: 'query', errors: 0 };
const cost: Cost = {
  calls: 2,
  scannedRows: 1000,
  splitsLines: false,
  sends: 'groups',
  sentRows: 10,
  sentBytes: 100,
  proofRows: 0,
};

/** A run with attempts at two range aggregations, the second of which was read in two windows. */
const run: RunReport = {
  status: 200,
  answer: '',
  durationMs: 50,
  calls: [
    { ...call, strategy: 'statistics', calls: 3, rows: 30, bytes: 300, durationMs: 20 },
    { ...call, strategy: 'rows', calls: 2, rows: 200, bytes: 9000, durationMs: 40 },
    { ...call, strategy: undefined, calls: 1, rows: 5, bytes: 50, durationMs: 1 },
  ],
  strategies: [
    {
      ...{ leaf: 0, strategy: 'statistics', outcome: 'ran', durationMs: 10, text: 'it ran' },
      ...{ estimate: cost, estimatedMs: 7, took: { calls: 3, rows: 30, bytes: 300 } },
      others: [{ strategy: 'rows', estimate: { ...cost, sentRows: 900 } }],
    },
    { leaf: 1, strategy: 'statistics', outcome: 'has-lines', durationMs: 1, text: 'rows have a line' },
    {
      ...{ leaf: 1, strategy: 'rows', outcome: 'ran', durationMs: 15, text: 'it ran' },
      took: { calls: 1, rows: 150, bytes: 8000 },
    },
    {
      ...{ leaf: 1, strategy: 'rows', outcome: 'ran', durationMs: 5, text: 'it ran' },
      took: { calls: 1, rows: 50, bytes: 1000 },
    },
  ],
};

const ratio = 'sum(rate({app="a"} |= "x" [1m])) / sum(rate({app="a"}[1m]))';

test('each part of a binary operation is a lane with the figures of its own attempts', async (t) => {
  const { lanes, others, total } = flowOf(await explained(ratio), run, 100);
  t.deepEqual(
    lanes.map(({ measured }) => measured),
    [
      { calls: 3, rows: 30, bytes: 300, ms: 10 },
      { calls: 2, rows: 200, bytes: 9000, ms: 21 },
    ],
  );
  t.deepEqual(lanes[0]?.estimated, { calls: 2, rows: 10, bytes: 100, ms: 7 });
  t.deepEqual(others, { calls: 1, rows: 5, bytes: 50, ms: undefined });
  t.deepEqual(total, { calls: 6, rows: 235, bytes: 9350, ms: 50 });
});

test('candidates say what became of them: used, given up, not needed or excluded, each once', async (t) => {
  const { lanes } = flowOf(await explained(ratio), run, 100);
  const states = (lane: Flow['lanes'][number] | undefined): Readonly<Record<string, string>> =>
    Object.fromEntries((lane?.candidates ?? []).map(({ strategy, state }) => [strategy, state]));
  t.like(states(lanes[0]), { statistics: 'ran', rows: 'not needed' });
  t.like(states(lanes[1]), { statistics: 'gave up', rows: 'ran' });
  t.is(lanes[0]?.candidates.find(({ strategy }) => strategy === 'rows')?.estimated?.rows, 900);
  const before = flowOf(await explained(ratio), undefined, 100);
  t.true(
    Object.values(states(before.lanes[0])).every((state) => state === 'planned' || state === 'excluded'),
  );
  t.is(before.total, undefined);
});

test('a log query is one lane, and expects no more rows than it may answer where all is done by the backend', async (t) => {
  const report = { ...run, strategies: [] };
  const whole = flowOf(await explained('{app="a"} |= "x"'), report, 100);
  t.is(whole.lanes.length, 1);
  t.is(whole.lanes[0]?.estimated?.rows, 100);
  t.is(whole.lanes[0]?.measured?.rows, 235);
  t.is(whole.others, undefined);
  const scanned = flowOf(await explained('{app="a"} | json | x="y"'), report, 100);
  t.is(scanned.lanes[0]?.estimated, undefined);
  t.true(scanned.lanes[0]?.proxy.some(({ part }) => part === '| json'));
});

test('a query without logs has no lane', async (t) => {
  t.deepEqual(flowOf(await explained('1 + 1'), undefined, undefined), {
    lanes: [],
    others: undefined,
    total: undefined,
  });
});

test('two plans differ in figures with their change, and the one with less work is marked', async (t) => {
  const first = flowOf(await explained('{app="a"} | json'), { ...run, strategies: [] }, 100);
  const calls = [{ ...call, strategy: undefined, calls: 6, rows: 47, bytes: 0, durationMs: 3 }];
  const second = flowOf(await explained('{app="a"}'), { ...run, strategies: [], calls }, 100);
  const figures = new Map(compareFlows(first, second).map((one) => [one.name, one]));
  t.like(figures.get('Rows from VictoriaLogs'), {
    first: '235',
    second: '47',
    change: '−80 %',
    less: 'second',
  });
  t.like(figures.get('Calls'), { change: 'same', less: undefined });
  t.like(figures.get('Parts that need the proxy'), { first: '1', second: '0', less: 'second' });
  t.like(figures.get('Read as'), { first: 'lines', second: 'lines', change: 'same' });
  const swapped = new Map(compareFlows(second, first).map((one) => [one.name, one]));
  t.like(swapped.get('Rows from VictoriaLogs'), { change: '+400 %', less: 'first' });
  t.like(swapped.get('Bytes from VictoriaLogs'), { change: 'from none', less: 'first' });
  const unknown = compareFlows(first, flowOf(await explained('{app="a"}'), undefined, 100));
  t.like(unknown[0], { second: '–', change: '', less: undefined });
});

test('figures are added up and printed as far as they are known', (t) => {
  const known = { calls: 1, rows: 2, bytes: 3, ms: 4 };
  t.deepEqual(addFigures([known, { ...known, rows: undefined }]), {
    calls: 2,
    rows: undefined,
    bytes: 6,
    ms: 8,
  });
  t.deepEqual(figureTexts(known), ['2 rows', '3 B', '1 call', '4.0 ms']);
  t.deepEqual(figureTexts({ ...known, bytes: undefined, ms: undefined }), ['2 rows', '1 call']);
  t.deepEqual(
    [formatShare(0, 10), formatShare(1, 1000), formatShare(5, 8), formatShare(999, 1000), formatShare(1, 0)],
    ['0 %', '<1 %', '63 %', '>99 %', '0 %'],
  );
});
