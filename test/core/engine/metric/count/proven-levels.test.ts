import test from 'ava';
import { printQuery } from '../../../../../core/victoria/logsql/print.js';
import { spreadSample } from '../../../../setup/runs.js';
import { MetricStore, rangeRequest, valuesOf } from '../metric-store.js';
import { base, second } from './json-lines.js';

let store: MetricStore;

test.before(async () => {
  store = await MetricStore.open();
});
test.after.always(() => store.close());

/** Lines in which the text at the first form of a level does not determine the level, or that start differently from all others. */
const unlike = [
  '{"msg":"\\"level\\":\\"debug\\"","level":"error"}',
  '{"error":1,"level":"info"}',
  '{"ts":1,"level":"info","level":"error"}',
  '{"ts":1,"level":"info"} tail',
  '{"ts":1,"level":"',
  '{"ts":1,"level":"WARNING"}',
  '{"ts":1,"level":"nothing known"}',
  'error level=info x',
  '{"level":30,"severity":"error","n":1}',
  '{"level":"warn","severity":3,"msg":"error"}',
  '{"level": 40,"msg":"\\"level\\":\\"debug\\""}',
  '{"level":50}',
  'level=info level=error x',
  'FATAL: no form',
  'batch 7 failed',
  '',
];

test('a line that no sample of its selection is like has the level that it has alone', async (t) => {
  t.timeout(600_000);
  const usual = [
    (n: number) => `{"ts":${n},"level":"${n % 3 === 0 ? 'warn' : 'info'}","msg":"m${n}"}`,
    (n: number) => `level=${n % 5 === 0 ? 'error' : 'info'} n=${n}`,
    (n: number) => `batch ${n} done`,
    (n: number) => `{"level":${10 * (n % 5)},"n":${n},"msg":"${n % 2 === 0 ? 'error: boom' : 'fine'}"}`,
  ];
  let account = 70_000;
  for (const [index, line] of unlike.entries()) {
    account += 1;
    const stored = Array.from({ length: 598 }, (_, n) => ({
      ns: base + (BigInt(n) * second) / 2n,
      stream: { app: 'a' },
      line: usual[n % usual.length]?.(n) ?? '',
    }));
    // Samples are taken from the start of each eighth of the range, which starts a minute before the first row.
    const other = { ns: base + 118n * second + 1n, stream: { app: 'a' }, line };
    const comesLater = index % 2 === 0;
    await store.push(account, comesLater ? stored : [...stored, other]);
    const outcome = async (text: string, pushdown: 'on' | 'off'): Promise<unknown> => {
      const request = rangeRequest(text, base, base + 300n * second, 60n * second);
      return valuesOf((await store.run(request, { account, pushdown })).answer);
    };
    const texts = [
      'sum by (level, detected_level) (count_over_time({app="a"} | drop __error__ [60s]))',
      'sum by (detected_level) (bytes_over_time({app="a"} |= "1" [60s]))',
    ];
    const compare = async (times: number): Promise<void> => {
      // The second query only concerns lines with a 1.
      for (const text of spreadSample(texts, line.includes('1') ? 1 : 2)) {
        const wanted = await outcome(text, 'off');
        for (let time = 0; time < times; time += 1)
          t.deepEqual(await outcome(text, 'on'), wanted, `${line} ${text}`);
      }
    };
    await compare(comesLater ? 1 : 2);
    if (!comesLater) continue;
    await store.push(account, [other]);
    await compare(1);
  }
});

const sizes = [
  ['few', '', 70_100],
  ['few and very long', ` ${'x'.repeat(100_000)}`, 70_101],
] as const;
for (const [turn, [name, tail, account]] of sizes.entries())
  test(`${name} lines in every stream whose level others do not show are counted by it`, async (t) => {
    t.timeout(600_000);
    const odd = [
      ...unlike,
      '{"ts":2,"level":"warn\\u0069ng"}',
      'level=warnings error',
      '{"level":"info","level":"debug"}',
    ];
    const stored = Array.from({ length: 6000 }, (_, n) => {
      const app = `a${n % 20}`;
      const usual = n % 7 === 0 ? 'warn' : 'info';
      return {
        ns: base + (BigInt(n) * second) / 20n,
        stream: { app },
        line:
          n % 97 === 13
            ? `${odd[Math.trunc(n / 97) % odd.length] ?? ''}${tail}`
            : `{"ts":${n},"level":"${usual}","msg":"m${n}"}`,
      };
    });
    await store.push(account, stored);
    const outcome = async (text: string, pushdown: 'on' | 'off'): Promise<unknown> => {
      const request = rangeRequest(text, base, base + 300n * second, 60n * second);
      return valuesOf((await store.run(request, { account, pushdown })).answer);
    };
    const texts = [
      'sum by (detected_level) (count_over_time({app=~".+"} | drop __error__ [60s]))',
      'sum by (app, detected_level) (rate({app=~"a1."} |= "e" [60s]))',
      'sum by (detected_level) (count_over_time({app=~".+"} | detected_level="debug" [60s]))',
      'sum by (detected_level) (bytes_over_time({app=~".+"} [60s]))',
      'count_over_time({app=~"a1"} [60s])',
    ];
    const asked = spreadSample(texts, 2, 1, turn);
    const wanted = new Map<string, unknown>();
    for (const text of asked) wanted.set(text, await outcome(text, 'off'));
    for (const text of [...asked, ...asked]) t.deepEqual(await outcome(text, 'on'), wanted.get(text), text);
  });

test('lines of streams without levels are not searched until a line with one arrives', async (t) => {
  t.timeout(600_000);
  const account = 70_200;
  const texts = [
    'sum by (level, detected_level) (count_over_time({app=~".+"} | drop __error__ [60s]))',
    'sum by (app, detected_level) (bytes_over_time({app=~".+"} [60s]))',
  ];
  const lines = [
    (n: number) => `GET /items/${n} 200`,
    (n: number) => `{"level":"${n % 9 === 0 ? 'warn' : 'info'}","n":${n}}`,
    (n: number) => `${n % 5 === 0 ? 'ERROR' : 'INFO'} done ${n}, error=nil`,
  ];
  const stored = Array.from({ length: 600 }, (_, n) => ({
    ns: base + (BigInt(n) * second) / 2n,
    stream: { app: ['web', 'api', 'job'][n % 3] ?? '', pod: `p${n % 6}` },
    line: lines[n % 3]?.(n) ?? '',
  }));
  const ask = async (text: string, pushdown: 'on' | 'off') => {
    const queries: string[] = [];
    const request = rangeRequest(text, base, base + 300n * second, 60n * second);
    const asked = (query: Parameters<typeof printQuery>[0]): unknown => queries.push(printQuery(query));
    const { answer } = await store.run(request, { account, pushdown, asked });
    return {
      values: valuesOf(answer),
      spares: queries.some((query) => query.includes('if ({app in ("web")})')),
    };
  };
  const compare = async (spares: boolean): Promise<void> => {
    for (const text of texts) {
      const { values } = await ask(text, 'off');
      for (const time of [0, 1, 2]) {
        const found = await ask(text, 'on');
        t.deepEqual(found.values, values, text);
        if (time === 2) t.is(found.spares, spares, text);
      }
    }
  };
  await store.push(account, stored);
  await compare(true);
  const late = {
    ns: base + 118n * second + 1n,
    stream: { app: 'web', pod: 'p9' },
    line: 'GET /error FATAL: x',
  };
  await store.push(account, [late]);
  await compare(false);
});
