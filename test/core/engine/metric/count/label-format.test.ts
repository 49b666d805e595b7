import test from 'ava';
import fc from 'fast-check';
import { deepRuns } from '../../../../setup/runs.js';
import { base, second } from './json-lines.js';
import { LineStore } from './line-store.js';

let store: LineStore;

test.before(async () => {
  store = await LineStore.open(93_000);
});
test.after.always(() => store.close());

/** Texts, functions and branches that depend on single labels; some fail for some values. */
const determined = [
  '{{.status}}',
  '{{.status}}/{{.team | ToUpper}}',
  '{{if eq .status "500"}}bad{{else if .team}}{{.app}}{{else}}fine{{end}}',
  '{{div 100 (int .size)}}',
  '{{$n := 3}}{{div $n (int .size)}}',
  '{{$x := .status}}{{with $x}}{{$x}}{{end}}',
  '{{regexReplaceAll "^(.).*" .pod "${1}xx"}}',
  '{{.pod.status}}',
  'all',
] as const;

/** Texts that depend on more than single labels. */
const undetermined = [
  '{{__line__}}',
  '{{__timestamp__ | unixEpoch}}',
  '{{.}}',
  '{{range $name, $value := .}}{{$name}}{{end}}',
  '{{index . "status"}}',
  '{{template "x" .}}{{define "x"}}{{.status}}{{end}}',
  '{{with .team}}{{.}}{{end}}',
  '{{.__error__}}{{.__error_details__}}',
  '{{len $}}',
  '{{$.status}}',
] as const;

const template = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...determined) },
  { weight: 1, arbitrary: fc.constantFrom(...undetermined) },
);
const name = fc.constantFrom('status', 'team', 'to', 'size', 'detected_level', 'service_name');
const assignment = fc
  .tuple(name, fc.oneof(template, template, fc.tuple(name)))
  .map(([made, from]): readonly [string, string] => [
    made,
    typeof from === 'string' ? `\`${from}\`` : from[0],
  ]);
const stage = fc
  .uniqueArray(assignment, { minLength: 1, maxLength: 3, selector: ([made]) => made })
  .map((made) => `| label_format ${made.map((parts) => parts.join('=')).join(', ')}`);
const query = fc
  .tuple(
    fc.constantFrom('', '| json', '| logfmt', '| regexp `(?P<size>[0-9])`', '| status="500"'),
    stage,
    fc.constantFrom('', '| __error__=""', '| to=~"b.*"', '| drop __error__, __error_details__'),
    fc.constantFrom('', 'to', 'status', 'to, team', 'detected_level', 'pod, size'),
  )
  .map(
    ([before, made, after, by]) =>
      `sum by (${by}) (count_over_time({app=~".+"} ${before} ${made} ${after} [60s]))`,
  );

const metadata = fc.record(
  {
    status: fc.constantFrom('200', '500', ''),
    size: fc.constantFrom('0', '7', '50', 'x'),
    team: fc.constantFrom('blue', 'red'),
    level: fc.constantFrom('warn', 'info'),
  },
  { requiredKeys: [] },
);
const entries = fc.array(
  fc.record({
    at: fc.integer({ min: 0, max: 300 }),
    stream: fc.constantFrom({ app: 'a' }, { app: 'a', pod: 'p' }, { app: 'b', team: 'green' }, { app: 'c' }),
    line: fc.constantFrom(
      'x',
      'an error',
      '{"status":"404","team":"yellow"}',
      '{"status":',
      'status=302 size=9',
      'level=debug size=0',
      '',
    ),
    metadata,
  }),
  { minLength: 20, maxLength: 60 },
);

test.serial('labels made from templates are counted as they would be line by line', async (t) => {
  t.timeout(300_000);
  await fc.assert(
    fc.asyncProperty(entries, fc.array(query, { minLength: 6, maxLength: 6 }), async (made, queries) => {
      await store.push(made.map(({ at, ...entry }) => ({ ...entry, ns: base + BigInt(at) * second })));
      await store.compare(t, queries);
    }),
    { numRuns: deepRuns(5, 150) },
  );
});

test.serial('the backend counts by the labels of a template, if these determine its text', async (t) => {
  await store.push(
    Array.from({ length: 90 }, (_, n) => ({
      ns: base + BigInt(n) * second,
      stream: { app: 'a', pod: `pod-${n % 3}` },
      line: `request ${n}`,
      metadata: { status: n % 5 === 0 ? '500' : '200', team: 'blue', size: String(n % 2) },
    })),
  );
  const textOf = (made: string): string =>
    `sum by (to) (count_over_time({app="a"} | label_format to=\`${made}\` | drop __error__, __error_details__ [60s]))`;
  for (const made of determined) await store.compareCounted(t, textOf(made));
  for (const made of undetermined) t.not((await store.tried(textOf(made))).at(-1), 'statistics:ran', made);
});

test.serial('templates that read labels changed by others of their stage are left to rows', async (t) => {
  await store.push([{ ns: base, stream: { app: 'a' }, line: 'x', metadata: {} }]);
  const cases = [
    ['to=`{{.app}}`, size=`{{.app}}`', true],
    ['app=to, size=`{{.app}}`', true],
    ['to=`{{.app}}`, size=`{{.to}}`', false],
    ['to=`{{.app}}`, pod=app, size=`{{.app}}`', false],
  ] as const;
  for (const [made, isCounted] of cases) {
    const tried = await store.tried(
      `sum by (to, size) (count_over_time({app="a"} | label_format ${made} [60s]))`,
    );
    t.is(tried.at(-1) === 'statistics:ran', isCounted, made);
  }
});

test.serial(
  'labels of as many values as rows, which only a stage reads, are not counted by group',
  async (t) => {
    const ids = 5_500;
    await store.push(
      Array.from({ length: ids }, (_, n) => ({
        ns: base + (BigInt(n) * second) / 20n,
        stream: { app: 'a' },
        line: 'x',
        metadata: { id: String(n), status: String(n % 7) },
      })),
    );
    const textOf = (stage: string): string => `sum by (app) (count_over_time({app="a"} ${stage} [60s]))`;
    for (const [stage, outcome] of [
      ['| status!="3"', 'statistics:ran'],
      ['| id!="3"', 'statistics:ran'],
      ['| id!=ip("10.0.0.1")', 'statistics:too-many-groups'],
      ['| label_format app=`{{len .id}}`', 'statistics:too-many-groups'],
    ] as const) {
      await store.compare(t, [textOf(stage)]);
      t.true((await store.tried(textOf(stage))).includes(outcome), stage);
    }
  },
);
