import { readFileSync } from 'node:fs';
import test from 'ava';
import { LabelSet } from '../../../../core/base/label-set.js';
import { checkStages, parseQuery, type RangeAggregation } from '../../../../core/logql/index.js';
import {
  type LineEvaluator,
  type LinePlace,
  pipelineEvaluator,
  sampleEvaluator,
} from '../../../../core/logql/lines/evaluator.js';
import { LineWorkers } from '../../../../core/logql/lines/line-workers.js';
import type { PipelineEntry } from '../../../../core/logql/pipeline/types.js';
import { visit } from '../../../../core/logql/walk.js';
import { hostileQueries, makeLine } from '../../../hostile/queries.js';
import { goldenPath, type Golden } from '../pipeline/golden.js';

const goldens = readFileSync(goldenPath, 'utf8')
  .trimEnd()
  .split('\n')
  // The file is part of this repository, and every line has this form.
  .map((line) => JSON.parse(line) as Golden);

const { signal } = new AbortController();
// The clock stands still, so only estimates decide and a pause of the machine has no effect.
const still = (): number => 0;

const here: LinePlace = {
  signal,
  nowMs: still,
  limit: Infinity,
  workers: { run: () => Promise.reject(new Error('not here')) },
};

function evaluatorOf(query: string, place: LinePlace): LineEvaluator<unknown> {
  const expr = parseQuery(query);
  if (expr.kind === 'log') return pipelineEvaluator(expr.stages, place);
  let range: RangeAggregation | undefined;
  visit(expr, (node) => {
    if (node.kind === 'range-aggregation') range ??= node;
  });
  if (range === undefined) throw new Error('nothing is read from lines');
  return sampleEvaluator(range, undefined, place);
}

function entryOf({ stream, structured_metadata, ts, line }: Golden): PipelineEntry {
  return {
    stream: LabelSet.from(Object.entries(stream)),
    structuredMetadata: LabelSet.from(Object.entries(structured_metadata)),
    timestampNs: BigInt(ts),
    line,
  };
}

test('a thread makes of every recorded line what the event loop makes of it', async (t) => {
  let apart = 0;
  const workers = new LineWorkers({
    threads: 1,
    timeoutMs: 60_000,
    observer: {
      changed: () => undefined,
      ended: () => {
        apart += 1;
      },
    },
  });
  t.teardown(() => {
    workers.close();
  });
  for (const golden of goldens) {
    const entry = entryOf(golden);
    const made = await evaluatorOf(golden.query, { signal, limit: -1, workers }).of(entry);
    t.deepEqual(made, await evaluatorOf(golden.query, here).of(entry), `${golden.id}: ${golden.query}`);
  }
  t.true(apart > 700, String(apart));
});

/**
 * The outcome of a query on a line of 200 KB: refused before any line is read, given to a thread, stopped at once by a limit, or evaluated
 * here.
 */
function fateOf(query: string, line: string, nowMs = still): 'refused' | 'apart' | 'limited' | 'here' {
  let evaluator;
  const given: unknown[] = [];
  const run = (work: unknown): Promise<undefined> => {
    given.push(work);
    return Promise.resolve(undefined);
  };
  try {
    checkStages(parseQuery(query));
    evaluator = evaluatorOf(query, { signal, nowMs, workers: { run } });
  } catch {
    return 'refused';
  }
  try {
    void evaluator.of({ stream: LabelSet.empty, structuredMetadata: LabelSet.empty, timestampNs: 0n, line });
  } catch {
    return 'limited';
  }
  return given.length > 0 ? 'apart' : 'here';
}

const otherFates: ReadonlyMap<string, ReturnType<typeof fateOf>> = new Map([
  ['decolorize', 'here'],
  ['900 groups', 'refused'],
  ['pattern of 120 KiB', 'refused'],
  ['pattern of classes', 'refused'],
  ['regexReplaceAll', 'limited'],
  ['repeat', 'limited'],
  ['printf width', 'limited'],
  ['labels that double', 'limited'],
  ['lines that double', 'limited'],
  ['many labels of one line', 'refused'],
  // Alternatives without repetition and constant templates are cheap.
  ['2,000 alternatives', 'here'],
  ['label_format of 500 labels', 'here'],
]);

for (const { name, query, line } of hostileQueries) {
  test(`no line holds the event loop: ${name}`, (t) => {
    t.is(fateOf(query, makeLine(line, 200_000)), otherFates.get(name) ?? 'apart');
  });
}

test('work whose cost cannot be estimated is given to a thread once it took too long', (t) => {
  const query = '{app="a"} | line_format `{{ regexReplaceAll "a" __line__ "b" }}`';
  let now = 0;
  const passing = (): number => (now += 5);
  t.is(fateOf(query, 'a'.repeat(1000), still), 'here');
  t.is(fateOf(query, 'a'.repeat(1000), passing), 'apart');
});

test('ordinary queries on ordinary lines are evaluated where they are', (t) => {
  for (const golden of goldens) {
    const evaluator = evaluatorOf(golden.query, { ...here, limit: 2_000_000 });
    t.notThrows(() => evaluator.of(entryOf(golden)), golden.query);
  }
});

test('labels that templates make have a limit for all of a line together', (t) => {
  const made = Array.from({ length: 40 }, (_, at) => `z${at}="{{__line__}}"`).join(',');
  const evaluator = evaluatorOf(`{app="a"} | label_format ${made}`, here);
  const entry = { stream: LabelSet.empty, structuredMetadata: LabelSet.empty, timestampNs: 0n };
  t.notThrows(() => evaluator.of({ ...entry, line: 'a'.repeat(50_000) }));
  t.throws(() => evaluator.of({ ...entry, line: 'a'.repeat(60_000) }), {
    message: 'line_format output limit exceeded',
  });
});
