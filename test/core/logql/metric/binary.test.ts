import test from 'ava';
import { ApiError } from '../../../../core/base/errors/api-error.js';
import { defaultMetricLimits } from '../../../../core/logql/metric/index.js';
import { evaluate, instant, range, samplesOf, valuesBy, type ShortEntry } from './run-query.js';

const entries: readonly ShortEntry[] = [
  ...Array.from({ length: 6 }, (): ShortEntry => [5, 'a', { pod: 'p', level: 'info' }]),
  ...Array.from({ length: 2 }, (): ShortEntry => [5, 'a', { pod: 'p', level: 'error' }]),
  ...Array.from({ length: 4 }, (): ShortEntry => [5, 'a', { pod: 'q', level: 'info' }]),
  [5, 'a', { pod: 'r', level: 'error' }],
];
const info = 'sum by (pod) (count_over_time({app="a", level="info"}[10s]))';
const error = 'sum by (pod) (count_over_time({app="a", level="error"}[10s]))';
const both = 'sum by (pod, level) (count_over_time({app="a"}[10s]))';
const byPod = 'sum by (pod) (count_over_time({app="a"}[10s]))';

const at = (query: string): Promise<unknown> => samplesOf(query, entries, instant(10));
const pods = (values: Readonly<Record<string, number>>): unknown =>
  Object.fromEntries(Object.entries(values).map(([pod, value]) => [`{pod="${pod}"}`, { 10: value }]));

for (const [op, values] of [
  ['+', { p: 8 }],
  ['-', { p: 4 }],
  ['*', { p: 12 }],
  ['/', { p: 3 }],
  ['%', { p: 0 }],
  ['^', { p: 36 }],
  ['>', { p: 6 }],
  ['<', {}],
  ['>= bool', { p: 1 }],
  ['== bool', { p: 0 }],
  ['!=', { p: 6 }],
  ['and', { p: 6 }],
  ['unless', { q: 4 }],
  ['or', { p: 6, q: 4, r: 1 }],
] as const) {
  test(`series ${op} series goes by equal labels`, async (t) => {
    t.deepEqual(await at(`${info} ${op} ${error}`), pods(values));
  });
}

for (const [operation, labels] of [
  ['and', '{app="a", level="error", pod="r"}'],
  ['unless', undefined],
  ['*', '{app="a", level="error", pod="r"}'],
  ['* on (pod, x)', '{pod="r"}'],
] as const)
  test(`an empty label matches as none: ${operation}`, async (t) => {
    const counted = (stages: string): string => `count_over_time({app="a", pod="r"} ${stages} [10s])`;
    t.deepEqual(
      await at(`${counted('')} ${operation} ${counted('| label_format x=""')}`),
      labels === undefined ? {} : { [labels]: { 10: 1 } },
    );
  });

for (const [query, values] of [
  ['INFO + 1', { p: 7, q: 5 }],
  ['1 - INFO', { p: -5, q: -3 }],
  ['INFO / 0', { p: NaN, q: NaN }],
  ['INFO % 0', { p: NaN, q: NaN }],
  ['INFO % 4', { p: 2, q: 0 }],
  ['-7 % INFO', { p: -1, q: -3 }],
  ['INFO ^ 0.5', { p: Math.sqrt(6), q: 2 }],
  ['1 ^ (INFO / 0)', { p: 1, q: 1 }],
  ['INFO > 4', { p: 6 }],
  ['4 < INFO', { p: 6 }],
  ['4 == INFO', { q: 4 }],
  ['INFO > bool 4', { p: 1, q: 0 }],
  ['4 < bool INFO', { p: 1, q: 0 }],
  ['INFO + on (zone) group_left (x) 1', { p: 7, q: 5 }],
] as const) {
  test(`with a number: ${query}`, async (t) => {
    t.deepEqual(await at(query.replace('INFO', info)), pods(values));
  });
}

test('numbers alone give a scalar, or a series over a range', async (t) => {
  t.deepEqual(await at('1 + 2 * 3'), { scalar: { 10: 7 } });
  t.deepEqual(await samplesOf('7 > 2', [], range(10, 20, 10)), { '{}': { 10: 1, 20: 1 } });
  t.deepEqual(await at('vector(2) + vector(3)'), { '{}': { 10: 5 } });
  t.deepEqual(await at('vector(2) * 3'), { '{}': { 10: 6 } });
  t.deepEqual(await at('sum(count_over_time({app="none"}[1m])) or vector(0)'), { '{}': { 10: 0 } });
});

test('on and ignoring decide what belongs together, and which labels a result has', async (t) => {
  const errors = 'sum by (pod, level) (count_over_time({app="a", level="error"}[10s]))';
  t.deepEqual(await at(`${errors} / on (pod) ${byPod}`), pods({ p: 0.25, r: 1 }));
  t.deepEqual(await at(`${errors} / ignoring (level) ${byPod}`), pods({ p: 0.25, r: 1 }));
  t.deepEqual(await at(`${errors} / ${byPod}`), {});
  t.deepEqual(await at(`sum(${errors}) / on () sum(${byPod})`), { '{}': { 10: 3 / 13 } });
});

test('group_left and group_right keep the labels of the side of many and take over others', async (t) => {
  const shares = {
    '{level="error", pod="p"}': { 10: 0.25 },
    '{level="error", pod="r"}': { 10: 1 },
    '{level="info", pod="p"}': { 10: 0.75 },
    '{level="info", pod="q"}': { 10: 1 },
  };
  t.deepEqual(await at(`${both} / on (pod) group_left ${byPod}`), shares);
  t.deepEqual(await at(`${both} / ignoring (level) group_left () ${byPod}`), shares);
  t.deepEqual(
    await at(
      `${byPod} - on (pod) group_right sum by (pod, level) (count_over_time({app="a", level="error"}[10s]))`,
    ),
    {
      '{level="error", pod="p"}': { 10: 6 },
      '{level="error", pod="r"}': { 10: 0 },
    },
  );
  const labelled = `label_replace(${byPod}, "zone", "z-$1", "pod", "(p)")`;
  t.deepEqual(await at(`${both} * on (pod) group_left (zone) ${labelled}`), {
    '{level="error", pod="p", zone="z-p"}': { 10: 16 },
    '{level="error", pod="r"}': { 10: 1 },
    '{level="info", pod="p", zone="z-p"}': { 10: 48 },
    '{level="info", pod="q"}': { 10: 16 },
  });
  t.deepEqual(await at(`${info} <= on (pod) group_right ${error}`), {});
  t.deepEqual(await at(`${info} >= on (pod) group_right ${error}`), pods({ p: 6 }));
});

const refused = async (
  query: string,
  grid = instant(10),
): Promise<{ readonly status: number; readonly text: string }> => {
  try {
    await evaluate(query, entries, grid);
  } catch (error) {
    if (error instanceof ApiError) return { status: error.status, text: error.message };
    throw error;
  }
  return { status: 200, text: '' };
};

test('what belongs to what must be clear', async (t) => {
  t.deepEqual(await refused(`${both} / on (pod) ${byPod}`), {
    status: 500,
    text: 'multiple matches for labels: many-to-one matching must be explicit (group_left/group_right)',
  });
  // A comparison that is false everywhere is refused too.
  t.is((await refused(`${both} > on (pod) ${byPod}`)).status, 500);
  t.deepEqual(await refused(`${byPod} / on (pod) ${both}`), {
    status: 500,
    text: 'found duplicate series on the right hand-side;many-to-many matching not allowed: matching labels must be unique on one side',
  });
  t.deepEqual(await refused(`${both} / on (pod) group_right ${byPod}`), {
    status: 500,
    text: 'found duplicate series on the left hand-side;many-to-many matching not allowed: matching labels must be unique on one side',
  });
  t.deepEqual(await refused(`${both} / ignoring (level) group_left (level) ${byPod}`), {
    status: 500,
    text: 'multiple matches for labels: grouping labels must ensure unique matches',
  });
});

test('the side of one must be clear although there is nothing to match, the side of many need not', async (t) => {
  const none = 'sum by (pod) (count_over_time({app="none"}[10s]))';
  t.is((await refused(`${none} / on (pod) ${both}`)).status, 500);
  t.is((await refused(`${both} / on (pod) ${none}`)).status, 200);
});

const duplicate =
  'found duplicate series on the right hand-side;many-to-many matching not allowed: matching labels must be unique on one side';
const manyToOne =
  'multiple matches for labels: many-to-one matching must be explicit (group_left/group_right)';

test('operations that fail at the same time are told together, the outer one first', async (t) => {
  const [left, right] = [`${both} / on (pod) ${byPod}`, `${byPod} / on (pod) ${both}`];
  const text = async (query: string): Promise<string> => (await refused(query)).text;
  t.is(await text(`(${left}) or (${right})`), `2 errors: ${manyToOne}; ${duplicate}`);
  t.is(
    await text(`sum(${right}) * label_replace(${left}, "a", "b", "", "")`),
    `2 errors: ${duplicate}; ${manyToOne}`,
  );
  t.is(
    await text(`((${left}) and (${right})) * on (pod) ${both}`),
    `2 errors: ${duplicate}; 2 errors: ${manyToOne}; ${duplicate}`,
  );
  t.is(await text(`(${left}) * 2`), manyToOne);
});

test('of operations that fail at different times the first is told', async (t) => {
  const later: readonly ShortEntry[] = [
    [5, 'a', { pod: 'p', level: 'info' }],
    [5, 'a', { pod: 'p', level: 'error' }],
    [15, 'b', { pod: 'p', level: 'info' }],
    [15, 'b', { pod: 'p', level: 'error' }],
  ];
  const of = (line: string): string => `sum by (pod, level) (count_over_time({app="a"} |= "${line}" [10s]))`;
  const text = async (query: string): Promise<string> => {
    const error = await t.throwsAsync(evaluate(query, later, range(10, 20, 10)), { instanceOf: ApiError });
    return error.message;
  };
  const [first, second] = [
    `${of('a')} / on (pod) sum by (pod) (${of('a')})`,
    `sum by (pod) (${of('b')}) / on (pod) ${of('b')}`,
  ];
  t.is(await text(`(${second}) or (${first})`), manyToOne);
  t.is(await text(`(${second}) * on (pod) (${of('a')})`), duplicate);
});

test('series that match alike do no harm at different times, and make one series', async (t) => {
  const later: readonly ShortEntry[] = [
    [5, 'a', { pod: 'p', level: 'info' }],
    [15, 'a', { pod: 'p', level: 'error' }],
    [15, 'a', { pod: 'p', level: 'error' }],
  ];
  t.deepEqual(await samplesOf(`${both} * on (pod) ${byPod}`, later, range(10, 20, 10)), {
    '{pod="p"}': { 10: 1, 20: 4 },
  });
  const or = `${info} or ${error}`;
  t.deepEqual(await samplesOf(or, later, range(10, 20, 10)), { '{pod="p"}': { 10: 1, 20: 2 } });
});

test('set operations go by on and ignoring too', async (t) => {
  const keys = async (query: string): Promise<readonly string[]> =>
    Object.keys(await samplesOf(query, entries, instant(10)));
  const errors = 'sum by (pod, level) (count_over_time({app="a", level="error"}[10s]))';
  const p = '{level="error", pod="p"}';
  t.deepEqual(await keys(`${errors} and on (pod) ${info}`), [p]);
  t.deepEqual(await keys(`${errors} and ignoring (level) ${info}`), [p]);
  t.deepEqual(await keys(`${errors} unless on (pod) ${info}`), ['{level="error", pod="r"}']);
  t.deepEqual(await keys(`${errors} and ${info}`), []);
  t.deepEqual(await keys(`${info} or on () ${errors}`), ['{pod="p"}', '{pod="q"}']);
  t.deepEqual(await keys(`sum(count_over_time({app="none"}[1m])) or ${info}`), ['{pod="p"}', '{pod="q"}']);
  t.deepEqual(await keys(`${info} and sum(count_over_time({app="none"}[1m]))`), []);
});

test('label_replace fills the groups of a match of the whole label into the destination', async (t) => {
  const replace = (args: string): Promise<unknown> => at(`label_replace(${info}, ${args})`);
  t.deepEqual(await replace('"x", "$1-${1}y", "pod", "(.)"'), {
    '{pod="p", x="p-py"}': { 10: 6 },
    '{pod="q", x="q-qy"}': { 10: 4 },
  });
  t.deepEqual(await replace('"x", "v", "pod", ""'), pods({ p: 6, q: 4 }));
  t.deepEqual(await replace('"x", "v", "nothing", ""'), {
    '{pod="p", x="v"}': { 10: 6 },
    '{pod="q", x="v"}': { 10: 4 },
  });
  t.deepEqual(await replace('"x", "${name}", "pod", "(?P<name>p)|q"'), {
    '{pod="p", x="p"}': { 10: 6 },
    '{pod="q"}': { 10: 4 },
  });
  t.deepEqual(await replace('"pod", "", "pod", "p"'), { '{}': { 10: 6 }, '{pod="q"}': { 10: 4 } });
});

test('series that label_replace makes equal both stay', async (t) => {
  const query = `label_replace(${info}, "pod", "x", "pod", ".*")`;
  t.deepEqual(await valuesBy('pod', query, entries), [
    ['x', 6],
    ['x', 4],
  ]);
  const result = await evaluate(query, entries, range(10, 10, 10));
  t.deepEqual(result.kind === 'matrix' && result.series.map(({ points }) => points.length), [2]);
});

test('binary operations have limits', async (t) => {
  const deep = Array.from({ length: 66 }, () => 'vector(1)').join(' + ');
  t.deepEqual(await refused(deep), { status: 400, text: 'binary expression evaluation limit exceeded' });
  t.is((await refused(Array.from({ length: 65 }, () => 'vector(1)').join(' + '))).status, 200);
  const limited = async (limit: object): Promise<string> => {
    const binary = { ...defaultMetricLimits.binary, ...limit };
    const error = await t.throwsAsync(evaluate(`${both} * 2`, entries, instant(10), { binary }), {
      instanceOf: ApiError,
    });
    return error.message;
  };
  t.is(await limited({ maxEvaluations: 1 }), 'binary expression evaluation limit exceeded');
  t.is(await limited({ maxSamples: 3 }), 'binary expression output sample budget exceeded');
  t.is(await limited({ maxOperandBytes: 35 }), 'binary operand exceeds response byte limit');
  t.is(await limited({ maxOperandRows: 3 }), 'binary operand exceeds response byte limit');
  t.is(await limited({ maxEncodedBytes: 50 }), 'binary encoded response exceeds byte budget');
  const none = { ...defaultMetricLimits.binary, maxSamples: 0 };
  await t.throwsAsync(
    evaluate(`${both} % on () ${both}`, entries, instant(10), { binary: none }),
    { message: duplicate },
    'an operation that fails gives no samples',
  );
  const binary = { ...defaultMetricLimits.binary, maxLabelBytes: 7 };
  await t.throwsAsync(evaluate(`${info} * ${info}`, entries, instant(10), { binary }), {
    message: 'binary expression output label budget exceeded',
  });
});

test('label_replace refuses a value that is too long for its pattern, which is one of many instructions', async (t) => {
  const long = 'a'.repeat(5_000);
  const counts = 'count_over_time({app="a"}[10s])';
  const entries: readonly ShortEntry[] = [[5, 'line', { pod: long }]];
  const replaced = (pattern: string): Promise<unknown> =>
    evaluate(`label_replace(${counts}, "z", "$1", "pod", "${pattern}")`, entries, instant(10));
  await t.notThrowsAsync(replaced('(a.*)'));
  await t.throwsAsync(replaced('((a?){500}a{500}b)'), {
    message:
      /^label_replace: a value of 5000 characters is too long for this pattern, which allows \d+; simplify the pattern$/,
  });
});
