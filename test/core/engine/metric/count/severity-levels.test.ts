import test from 'ava';
import fc from 'fast-check';
import { deepRuns } from '../../../../setup/runs.js';
import { MetricStore, rangeRequest, valuesOf, type StoredEntry } from '../metric-store.js';
import { base, second } from './json-lines.js';
import { LineStore } from './line-store.js';

const exported = { 'service.name': 's', 'k8s.pod.name': 'p' };
const text = 'sum by (level, detected_level) (count_over_time({service_name="s"} | drop __error__ [60s]))';

/** A line of letters that resembles no other line. */
function lineOfLetters(n: number): string {
  return String(n * 7919).replaceAll(/\d/g, (digit) => 'ghjkmqrxyz'.charAt(Number(digit)));
}

test('rows of OTLP exports are counted by their severity, however different their lines are', async (t) => {
  const store = await MetricStore.open();
  try {
    const severities = [
      { severity_number: '9', severity_text: 'Info' },
      { severity_number: '17', severity_text: 'broken' },
      { severity_number: '0', severity_text: 'WARN' },
      { severity_number: '21' },
    ];
    const entries = Array.from({ length: 900 }, (_, n) => ({
      ns: base + (BigInt(n) * second) / 4n,
      stream: exported,
      line: n % 100 === 50 ? `error ${lineOfLetters(n)}` : lineOfLetters(n),
      // VictoriaLogs fills in these two for a record without a severity; its line decides the level.
      metadata:
        n % 100 === 50 ? { severity_number: '0', severity_text: 'Unspecified' } : (severities[n % 4] ?? {}),
    }));
    const account = 71_101;
    await store.push(account, entries);
    const request = rangeRequest(text, base + 60n * second, base + 240n * second, 60n * second);
    const whole = await store.run(request, { account, pushdown: 'off' });
    const shown = Object.keys(valuesOf(whole.answer)).join(' ');
    for (const level of ['broken', 'error', 'fatal', 'info', 'warn']) t.regex(shown, new RegExp(level));
    await store.run(request, { account });
    const { answer, calls, tried } = await store.run(request, { account });
    t.deepEqual(valuesOf(answer), valuesOf(whole.answer));
    t.is(tried.at(-1), 'statistics:ran');
    const sent = calls.reduce((sum, { rows }) => sum + rows, 0);
    t.true(sent < 100, `${sent} rows and groups`);
  } finally {
    await store.close();
  }
});

test('rows of OTLP exports are not split by their severity where no label depends on it', async (t) => {
  const store = await LineStore.open(71_300);
  try {
    await store.push(
      Array.from({ length: 290 }, (_, n) => ({
        ns: base + BigInt(n) * second,
        stream: exported,
        line: 'x',
        metadata: { severity_number: String(1 + (n % 24)), 'http.code': n % 2 === 0 ? '200' : '503' },
      })),
    );
    for (const code of ['http_code', 'pod'])
      await store.compareReading(
        t,
        [
          [
            `sum by (${code}) (count_over_time({service_name="s"} | http_code >= 0 [300s]))`,
            'statistics:ran',
            40,
          ],
        ],
        10_000,
      );
  } finally {
    await store.close();
  }
});

/** One of the usual values, or rarely an odd one, because a single odd value means that all rows are read. */
function seldom(usual: readonly string[], odd: readonly string[]): fc.Arbitrary<string> {
  return fc.oneof(
    { weight: 20, arbitrary: fc.constantFrom(...usual) },
    { weight: 1, arbitrary: fc.constantFrom(...odd) },
  );
}

const severity = fc.record(
  {
    severity_number: seldom(['0', '9', '17'], ['00', '25', '-1', 'x']),
    severity_text: seldom(['', 'Unspecified', 'Info', 'ERROR'], ['odd']),
    'severity.text': seldom([''], ['Unspecified', 'warn']),
    level: seldom([''], ['debug', 'odd']),
    trace_id: seldom(['', 'ab'], ['00', '0']),
    'http.code': seldom(['200', '500', '503'], ['5xx']),
  },
  { requiredKeys: [] },
);
const streamFields = fc.constantFrom<Readonly<Record<string, string>>>(
  exported,
  { ...exported, severity_number: '9' },
  { 'service.name': 's', severity_text: 'Info' },
  { service_name: 's' },
  { service_name: 's', severity_number: '9' },
  { service_name: 's', level: 'error' },
);
const line = fc.constantFrom('plain', 'error: no', 'level=warn x', '{"level":"debug"}');
const stored = fc
  .array(fc.record({ stream: streamFields, metadata: severity, line }), { minLength: 2, maxLength: 6 })
  .map((made) =>
    Array.from({ length: 240 }, (_, n): StoredEntry => {
      const kind = made[n % made.length];
      const ns = base + BigInt(n) * second;
      return { ns, stream: exported, line: 'plain', ...kind };
    }),
  );

test.serial('levels are those of severities, of levels and of lines, whatever is filled in', async (t) => {
  t.timeout(300_000);
  const store = await LineStore.open(71_200);
  try {
    await fc.assert(
      fc.asyncProperty(stored, async (entries) => {
        await store.push(entries);
        await store.compare(t, [
          text,
          'sum by (severity_text) (count_over_time({service_name="s"} [60s]))',
          'sum by (trace_id, http_code) (count_over_time({service_name="s"} [60s]))',
          'sum(count_over_time({service_name="s"} | http_code >= 500 | trace_id != "" | drop __error__ [60s]))',
        ]);
      }),
      { numRuns: deepRuns(20, 60) },
    );
  } finally {
    await store.close();
  }
});
