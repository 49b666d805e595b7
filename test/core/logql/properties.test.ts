import { readFileSync } from 'node:fs';
import test from 'ava';
import fc from 'fast-check';
import {
  checkStages,
  formatQuery,
  LogqlError,
  parseQuery,
  printQuery,
  printPlain,
} from '../../../core/logql/index.js';
import { fixedTokens, functionWords } from '../../../core/logql/syntax/tokens.js';
import { logExpr, metricExpr } from './arbitraries.js';
import { deepRuns } from '../../setup/runs.js';
import { anyCharacter } from '../../setup/text.js';

/** A tree without the positions in the text. */
function withoutSpans(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value, (key, part: unknown) => {
      if (key === 'span') return undefined;
      if (typeof part === 'bigint') return `${part.toString()}n`;
      return Object.is(part, -0) ? 0 : part;
    }),
  );
}

test('a printed tree reads as the same tree', (t) => {
  fc.assert(
    fc.property(fc.oneof(logExpr, metricExpr), (expr) => {
      const printed = printPlain(expr);
      t.deepEqual(withoutSpans(parseQuery(printed)), withoutSpans(expr), printed);
    }),
    { numRuns: 500 },
  );
});

test('formatting a formatted log query changes nothing', (t) => {
  fc.assert(
    fc.property(logExpr, (expr) => {
      const once = printQuery(expr);
      t.is(formatQuery(once), once);
    }),
    { numRuns: 300 },
  );
});

test('a golden query that was printed prints the same again', (t) => {
  for (const line of readFileSync('test/data/logql/parse.jsonl', 'utf8').trimEnd().split('\n')) {
    // The file holds one object of this shape per line.
    const golden = JSON.parse(line) as { query: string; ok: boolean; query_range_error?: string };
    // A query that Loki cannot read back after printing cannot run there either.
    if (!golden.ok || golden.query_range_error !== undefined) continue;
    const once = printPlain(parseQuery(golden.query));
    t.is(printPlain(parseQuery(once)), once);
  }
});

/** Throws if parsing, checking or printing fails with an error other than a LogqlError. */
function survives(text: string): boolean {
  for (const dottedNames of ['reject', 'accept'] as const) {
    try {
      const expr = parseQuery(text, { dottedNames });
      checkStages(expr);
      printQuery(expr);
    } catch (error) {
      if (!(error instanceof LogqlError)) throw error;
    }
  }
  return true;
}

const words = [...fixedTokens.keys(), ...functionWords.keys()];
const token = fc.oneof(
  fc.constantFrom(...words),
  fc.constantFrom(
    'a',
    'b.c',
    '"x"',
    '`y`',
    '5',
    '0.5',
    '5m',
    '-5m',
    '1KiB',
    '[5m]',
    '[',
    '--strict',
    '{a="b"}',
    '#',
    "'",
  ),
);

/** Number of random inputs; `TEST_RUNS=300` runs a million. */
const fuzzRuns = deepRuns(500, 1500);

test('random token streams are read or refused', (t) => {
  t.timeout(3_600_000);
  fc.assert(
    fc.property(fc.array(token, { maxLength: 25 }), fc.constantFrom('', ' ', '\n'), (tokens, separator) => {
      t.true(survives(tokens.join(separator)));
    }),
    { numRuns: fuzzRuns },
  );
});

test('random texts are read or refused', (t) => {
  t.timeout(3_600_000);
  const garbage = fc.string({ unit: anyCharacter, maxLength: 60 });
  const broken = fc.string({
    unit: fc.constantFrom('{', '"', '\\', '/', '*', '\0', '\ud800', 'x', '=', '\n', '|', '0', 'e'),
  });
  fc.assert(
    fc.property(fc.oneof(garbage, broken), fc.constantFrom('', '{a="b"} | line_format "{{'), (text, head) => {
      t.true(survives(head + text));
    }),
    { numRuns: fuzzRuns },
  );
});

test('a query of more words than can be read in good time is refused', (t) => {
  const error = t.throws(() => parseQuery(`1${'+1'.repeat(50_000)}`), { instanceOf: LogqlError });
  t.regex(error.message, /query is too long/);
});
