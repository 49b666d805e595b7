import test, { type ExecutionContext } from 'ava';
import fc from 'fast-check';
import { deepRuns } from '../../../../setup/runs.js';
import type { StoredEntry } from '../metric-store.js';
import { base, second } from './json-lines.js';
import { LineStore } from './line-store.js';

let store: LineStore;

test.before(async () => {
  store = await LineStore.open(97_000);
});
test.after.always(() => store.close());

const text = 'sum by (level, detected_level) (count_over_time({app="a"} | drop __error__ [60s]))';
const id = (n: number): string => (BigInt(n + 1) * 0x9e3779b97f4a7c15n).toString(36);

const levels = ['info', 'info', 'warn', 'error'];
const usual = [
  (n: number) => `{"ts":${n},"level":"${levels[n % 4] ?? ''}","msg":"m"}`,
  (n: number) => `level=${levels[n % 4] ?? ''} msg="m"`,
];
/** Lines without a level word; no two are alike. */
const wordless = [
  (n: number) => `GET /orders/${id(n)}`,
  (n: number) => `{"id":"${id(n)}","msg":"stored"}`,
  (n: number) => `lvl=${id(n)} informal terror misinfo warned _error_ debug2`,
  (n: number) => `{"LEVEL":"${id(n)}"}`,
];
const others = [
  (n: number) => `order ${id(n)} met an Error`,
  (n: number) => `{"id":"${id(n)}","msg":"no error"}`,
  (n: number) => `{"id":"${id(n)}","LVL" : "Trc"}`,
  (n: number) => String.raw`id=${id(n)} Lvl="\u0069nfo"`,
  (n: number) => String.raw`{"id":"${id(n)}","\u006cevel":"dbg"}`,
  (n: number) => `${id(n)} lvl=INF`,
  (n: number) => `${id(n)} cr\u0130tical`,
  (n: number) => `${id(n)} [fatal]`,
  (n: number) => `é${id(n)}\terr`,
  (n: number) => `"level":"info ${id(n)}`,
  (n: number) => `x"level":"${id(n)}`,
];

const line = fc.oneof(
  { weight: 30, arbitrary: fc.constantFrom(...usual) },
  { weight: 6, arbitrary: fc.constantFrom(...wordless) },
  { weight: 1, arbitrary: fc.constantFrom(...others) },
);

const entriesOf = (lines: readonly ((n: number) => string)[]): readonly StoredEntry[] =>
  lines.map((lineOf, n) => ({
    ns: base + (BigInt(n) * 300n * second) / BigInt(lines.length),
    stream: { app: 'a', half: String(n % 2) },
    line: lineOf(n),
  }));

test.serial('lines without a level word have no level, whatever the lines around them', async (t) => {
  t.timeout(300_000);
  await fc.assert(
    fc.asyncProperty(fc.array(line, { minLength: 200, maxLength: 260 }), async (lines) => {
      await store.push(entriesOf(lines));
      await store.compare(t, [text]);
    }),
    { numRuns: deepRuns(6, 60) },
  );
});

async function rowsSent(t: ExecutionContext, lines: readonly ((n: number) => string)[]): Promise<number> {
  await store.push(entriesOf(lines));
  await store.compare(t, [text]);
  const { calls, tried } = await store.run(text);
  t.is(tried.at(-1), 'statistics:ran');
  return calls.reduce((sum, { rows }) => sum + rows, 0);
}

test.serial('lines without a level word are one group, although each has its own id', async (t) => {
  const lines = Array.from({ length: 1_000 }, (_none, n) =>
    n % 10 === 0 ? (wordless[(n / 10) % 4] ?? usual[0]) : usual[n % 2],
  ).filter((lineOf) => lineOf !== undefined);
  // There are groups for two streams, six minutes and four levels; each is requested once.
  const sent = await rowsSent(t, lines);
  t.true(sent <= 2 * 6 * 4 + 10, `${sent} rows and groups`);
});
