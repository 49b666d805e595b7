import test from 'ava';
import { MetricStore, rangeRequest, valuesOf } from '../metric-store.js';
import { base, second } from './json-lines.js';

let store: MetricStore;

test.before(async () => {
  store = await MetricStore.open();
});
test.after.always(() => store.close());

const usual = [
  (level: string, n: number) => `{"ts":${n},"level":"${level}","msg":"m${n}"}`,
  (level: string, n: number) => `level=${level} msg="m${n}"`,
];
const odd = [
  (n: number) => `{"ts":${n},"level":"Wrn","msg":"m${n}"}`,
  (n: number) => `{"ts":${n},"LEVEL":"dbg","msg":"m${n}"}`,
  (n: number) => `{"ts":${n},"level" : "Information"}`,
  (n: number) => String.raw`{"ts":${n},"level":"\u0065rror","msg":"m${n}"}`,
  (n: number) => `{"msg":"at C:\\\\${n}","lvl":"inf"}`,
  (n: number) => `severity=ERR msg="m${n}"`,
  (n: number) => `lvl=wrn n=${n}`,
  (n: number) => `level="Inf" n=${n}`,
  (n: number) => `level=notice msg="m${n}" level=error`,
];

test('lines with oddly spelled levels are told apart from all others, which are counted without them', async (t) => {
  const levels = ['info', 'info', 'warn', 'error'];
  const entries = Array.from({ length: 1_200 }, (_, n) => ({
    ns: base + (BigInt(n) * second) / 5n,
    stream: { app: 'a', half: String(n % 2) },
    line:
      (n % 25 === 7
        ? odd[Math.floor(n / 25) % odd.length]?.(n)
        : usual[n % 2]?.(levels[Math.floor(n / 2) % 4] ?? '', n)) ?? '',
  }));
  const account = 71_001;
  await store.push(account, entries);
  const text = 'sum by (level, detected_level) (count_over_time({app="a"} | drop __error__ [60s]))';
  for (const moved of [0n, 1n, 2n]) {
    const request = rangeRequest(text, base + moved * second, base + 240n * second, 60n * second);
    const { answer, calls, tried } = await store.run(request, { account });
    const whole = await store.run(request, { account, pushdown: 'off' });
    t.deepEqual(valuesOf(answer), valuesOf(whole.answer));
    t.true(tried.includes('statistics:ran'), tried.join());
    // The first request reads a sample.
    if (moved === 0n) continue;
    const sent = calls.reduce((sum, { rows }) => sum + rows, 0);
    t.true(sent < 200, `${sent} rows and groups`);
  }
});
