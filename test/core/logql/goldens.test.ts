import { readFileSync } from 'node:fs';
import test from 'ava';
import { checkStages, LogqlError, parseQuery, printQuery } from '../../../core/logql/index.js';

/** Loki's result for a query. */
interface Golden {
  readonly id: string;
  readonly family: string;
  readonly query: string;
  readonly ok: boolean;
  readonly phase?: string;
  readonly type?: string;
  readonly formatted?: string;
  readonly error?: string;
}

// The file holds one object of this shape per line.
const goldens = readFileSync('test/data/logql/parse.jsonl', 'utf8')
  .trimEnd()
  .split('\n')
  .map((line) => JSON.parse(line) as Golden);

function outcome(query: string): Partial<Golden> {
  try {
    const expr = parseQuery(query);
    const formatted = printQuery(expr);
    try {
      checkStages(expr);
    } catch (error) {
      return { ok: false, phase: 'stage', formatted, error: textOf(error) };
    }
    return { ok: true, type: expr.kind === 'log' ? 'logs' : 'metric', formatted };
  } catch (error) {
    return { ok: false, phase: 'parse', error: textOf(error) };
  }
}

function textOf(error: unknown): string {
  if (error instanceof LogqlError) return error.message;
  throw error;
}

test('the goldens are complete', (t) => {
  t.is(goldens.length, 1728);
});

for (const family of new Set(goldens.map((golden) => golden.family))) {
  test(`${family} queries are read, printed and refused as Loki does`, (t) => {
    for (const golden of goldens.filter((one) => one.family === family)) {
      const { ok, phase, type, formatted, error } = golden;
      const expected = Object.entries({ ok, phase, type: ok ? type : undefined, formatted, error });
      t.deepEqual(
        outcome(golden.query),
        Object.fromEntries(expected.filter(([, value]) => value !== undefined)),
        `${golden.id} ${golden.query}`,
      );
    }
  });
}
