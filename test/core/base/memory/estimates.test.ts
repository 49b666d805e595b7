import test from 'ava';
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const measure = fileURLToPath(new URL('./measure.js', import.meta.url));
const run = promisify(execFile);

const cases: readonly (readonly [
  what: string,
  query: string,
  streams: number,
  lines: number,
  steps: number,
])[] = [
  ['series of one sample', 'count(count_over_time({app="measured"} | logfmt [5m]))', 40_000, 2, 20],
  ['groups over many columns', 'sum by (pod) (count_over_time({app="measured"}[5s])) > 0', 120, 10, 11_000],
  [
    'values that are kept',
    'quantile_over_time(0.9, {app="measured"} | logfmt | unwrap took [1m]) by ()',
    200,
    2_000,
    14_000,
  ],
  ['operands', 'rate({app="measured"}[1m]) / on (pod) rate({app="measured"}[1m])', 200, 50, 4_000],
  ['points', 'sum by (pod) (rate({app="measured"}[1m]))', 300, 50, 3_000],
];

for (const [what, query, streams, lines, steps] of cases) {
  test.serial(`what is estimated for ${what} is what the heap holds`, async (t) => {
    const args = ['--expose-gc', measure, query, String(streams), String(lines), String(steps)];
    const { stdout } = await run(process.execPath, args);
    const comparisons = JSON.parse(stdout) as readonly (readonly [number, number])[];
    t.true(comparisons.length >= 2, 'the query is large enough to be measured');
    for (const [estimated, real] of comparisons) {
      const text = `estimated ${estimated}, really ${real}`;
      // The state that pipelines keep is compiled and charged a little late.
      t.true(real < 1.2 * estimated + 4e6, text);
      t.true(real > estimated / 3 - 3e6, text);
    }
  });
}
