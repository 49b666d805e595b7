/** Stored names that affect a sample although the query does not name them. */
import test from 'ava';
import { ApiError } from '../../../../core/base/errors/api-error.js';
import {
  instantRequest,
  MetricStore,
  storedFromNs as base,
  valuesOf,
  type StoredEntry,
} from './metric-store.js';

const second = 1_000_000_000n;
const account = 300;

let store: MetricStore;

test.before(async () => {
  store = await MetricStore.open();
  await store.push(account, [...faulty, ...levels]);
});

test.after.always(async () => {
  await store.close();
});

const at = (seconds: number): bigint => base + BigInt(seconds) * second;

/** The second entry has an error that a client stored. */
const faulty: readonly StoredEntry[] = [
  { ns: at(1), stream: { app: 'faulty' }, line: '{"n":1}', metadata: { team: 'red' } },
  { ns: at(2), stream: { app: 'faulty' }, line: '{"n":2}', metadata: { __error__: 'mine' } },
  { ns: at(1), stream: { app: 'details' }, line: 'x', metadata: { __error_details__: 'of what' } },
];

/** Streams with a label `detected_level`: the level of their entries comes from another label, or else from the line. */
const levels: readonly StoredEntry[] = [
  { ns: at(1), stream: { app: 'levels', detected_level: 'odd', severity: 'ERROR' }, line: 'a level=info' },
  { ns: at(2), stream: { app: 'levels', detected_level: 'odd', severity: 'notice' }, line: 'bb level=info' },
  { ns: at(3), stream: { app: 'levels', detected_level: 'odd' }, line: 'ccc level=info' },
  { ns: at(4), stream: { app: 'levels', detected_level: 'odd' }, line: 'dddd level=warn' },
  { ns: at(5), stream: { app: 'levels' }, line: 'eeeee level=warn' },
];

async function valuesAt(text: string, pushdown: 'on' | 'off'): Promise<Record<string, number>> {
  const { answer } = await store.run(instantRequest(text, at(10)), { account, pushdown });
  return valuesOf(answer);
}

for (const pushdown of ['on', 'off'] as const) {
  for (const query of [
    'sum(count_over_time({app="faulty"} STAGES [1m]))',
    'sum by (app) (rate({app="faulty"} STAGES [1m])) * 60',
    'sum by (team) (bytes_over_time({app="faulty"} STAGES [1m])) / 7',
    'max by (app) (count_over_time({app="faulty"} STAGES [1m]))',
    'sum by (app) (count_over_time({app="faulty"} | json STAGES [1m]))',
    'quantile_over_time(0.5, {app="faulty"} | json STAGES | unwrap n [1m]) by (app)',
    'sum(sum_over_time({app="faulty"} STAGES | json n | unwrap n [1m]))',
  ])
    test.serial(`an error stored as metadata is seen with pushdown ${pushdown} by ${query}`, async (t) => {
      const error = { instanceOf: ApiError, message: /^pipeline error: 'mine' for series: / };
      await t.throwsAsync(valuesAt(query.replace('STAGES', ''), pushdown), error);
      t.deepEqual(Object.values(await valuesAt(query.replace('STAGES', '| __error__=""'), pushdown)), [1]);
      await t.throwsAsync(valuesAt(query.replace('STAGES', '| __error__="mine"'), pushdown), error);
    });

  test.serial(`absence is not told of entries with a stored error with pushdown ${pushdown}`, async (t) => {
    await t.throwsAsync(valuesAt('absent_over_time({app="faulty"}[1m])', pushdown), { instanceOf: ApiError });
    const left = await valuesAt('absent_over_time({app="faulty"} | team="" | __error__="" [1m])', pushdown);
    t.deepEqual(left, { '{"app":"faulty"}': 1 });
  });

  test.serial(
    `stored details of an error are no label of a grouping with pushdown ${pushdown}`,
    async (t) => {
      const grouped = 'sum without (app, service_name) (count_over_time({app="details"}[1m]))';
      t.deepEqual(await valuesAt(grouped, pushdown), { '{"detected_level":"unknown"}': 1 });
      const [labels] = Object.keys(await valuesAt('count_over_time({app="details"}[1m])', pushdown));
      t.true(labels?.includes('"__error_details__":"of what"'));
    },
  );

  for (const [query, wanted] of [
    [
      'sum by (detected_level_extracted) (count_over_time({app="levels"}[1m]))',
      { error: 1, notice: 1, info: 1, warn: 1, '': 1 },
    ],
    [
      'sum by (detected_level_extracted) (bytes_over_time({app="levels"}[1m]))',
      { error: 12, notice: 13, info: 14, warn: 15, '': 16 },
    ],
    [
      'sum by (detected_level_extracted) (count_over_time({app="levels"} | detected_level_extracted=~"error|warn" [1m]))',
      { error: 1, warn: 1 },
    ],
    [
      'max by (detected_level_extracted) (count_over_time({app="levels", severity!=""}[1m]))',
      { error: 1, notice: 1 },
    ],
    [
      'sum without (app, service_name, severity, detected_level) (count_over_time({app="levels"} | detected_level="odd" [1m]))',
      { error: 1, notice: 1, info: 1, warn: 1 },
    ],
  ] as const)
    test.serial(`the level beside a label detected_level with pushdown ${pushdown}: ${query}`, async (t) => {
      const values = Object.entries(await valuesAt(query, pushdown)).map(([labels, value]) => {
        const { detected_level_extracted: level = '' } = JSON.parse(labels) as Record<string, string>;
        return [level, value];
      });
      t.deepEqual(Object.fromEntries(values), wanted);
    });
}
