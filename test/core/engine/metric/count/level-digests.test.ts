import test from 'ava';
import fc from 'fast-check';
import { isDeclined } from '../../../../../core/engine/metric/cost.js';
import { levelQuestion } from '../../../../../core/engine/metric/count/level-digest.js';
import type { LineDigest } from '../../../../../core/engine/metric/count/line-digests.js';
import type { LogsqlPipe } from '../../../../../core/victoria/logsql/ast.js';
import {
  and,
  fields,
  matcher,
  not,
  nothing,
  query,
  streamMatch,
  where,
} from '../../../../../core/victoria/logsql/build.js';
import { levelFromLine } from '../../../../../core/victoria/names/level.js';
import { Trace } from '../../../../../core/base/trace.js';
import { columnOf, type BackendRow } from '../../../../../core/victoria/upstream/types.js';
import { deepRuns } from '../../../../setup/runs.js';
import { MetricStore } from '../metric-store.js';
import { base } from './json-lines.js';

let store: MetricStore;
let account = 73_000;

test.before(async () => {
  store = await MetricStore.open();
});
test.after.always(() => store.close());

const names = [
  'level',
  'LEVEL',
  'Level',
  'lvl',
  'severity',
  'SeverityText',
  'log.level',
  'lEvel',
  'ſeverity',
];
const levels = ['info', 'INFO', 'Error', 'wrn', 'warning', 'TRACE', 'Metadata', 'crİtical', '30', ''];
const text = fc.constantFrom(
  ...[
    'all is well',
    'an error came',
    'level=error',
    'see level info',
    '[WARN] hot',
    'was \\"level\\":\\"debug\\"',
  ],
  ...[
    'C:\\\\x',
    '\\u003cb\\u003e',
    'x=1',
    '',
    'terror infos',
    'key=\\"v\\"',
    'two\tlevel=warn parts',
    'é {error}',
    '\\u0065rror',
  ],
);
const level = fc.constantFrom(...levels);
const name = fc.constantFrom(...names);

/** The members of a JSON object, most of them valid. */
const member = fc.oneof(
  { weight: 3, arbitrary: fc.tuple(name, level).map(([key, value]) => `"${key}":"${value}"`) },
  {
    weight: 4,
    arbitrary: fc
      .tuple(fc.constantFrom('msg', 'ts', 'err', 'a\\"b'), text)
      .map(([key, value]) => `"${key}":"${value}"`),
  },
  fc.tuple(name, level).map(([key, value]) => `"http":{"id":7,"${key}":"${value}"}`),
  fc.tuple(name, level).map(([key, value]) => `"a":{"b":{"${key}":"${value}"}}`),
  fc.tuple(name, level).map(([key, value]) => `"list":[{"${key}":"${value}"},"]"]`),
  fc.tuple(name, level).map(([key, value]) => `"${key}" : "${value}"`),
  fc
    .tuple(name, fc.constantFrom('30', '7', '-1', '2.5', '30 ', 'info'))
    .map(([key, value]) => `"${key}":${value}`),
  fc.constantFrom(
    '"n":1',
    '"n":-1.5e3',
    '"n":+1',
    '"ok":true',
    '"none":null',
    '"none":nan',
    '"level":30',
    '"level":null',
    '"\\u006cevel":"error"',
    '"\\x":1',
    'broken',
    '"n":1 2',
  ),
);
const objectLine = fc
  .tuple(
    fc.constantFrom('', '', '', '', ' ', '\u00a0', 'error '),
    fc.array(member, { minLength: 1, maxLength: 5 }),
    fc.constantFrom('}', '}', '}', '}', '} \n', '', '} tail level=warn', '},'),
    fc.constantFrom(',', ',', ', ', ' ,'),
  )
  .map(([start, members, end, comma]) => `${start}{${members.join(comma)}${end}`);

const pair = fc.oneof(
  { weight: 3, arbitrary: fc.tuple(name, level).map(([key, value]) => `${key}=${value}`) },
  fc.tuple(name, level).map(([key, value]) => `${key}="${value}"`),
  { weight: 3, arbitrary: text.map((value) => `msg="${value}"`) },
  fc.constantFrom(
    'ts=2026-11-01',
    'a=b=c',
    '=x',
    'GET',
    '"GET /"',
    'a="b"c=d',
    'level',
    'severity',
    'log_level=error',
    'loglevel=debug',
    '\ufffd=1',
    'a=\ufffd',
    'level="info"x',
    'level=in"fo',
    'level="cut',
    'level=info\tn=1',
    'level=\\',
    'n={error}',
    '[error]',
    'INFO',
    'error:',
  ),
);
const pairsLine = fc
  .array(fc.tuple(pair, fc.constantFrom(' ', ' ', ' ', '  ', '\t', '\n')), { minLength: 1, maxLength: 6 })
  .map((parts) =>
    parts
      .map((part) => part.join(''))
      .join('')
      .replace(/ $/, ''),
  );

const words = fc.constantFrom(
  ...[
    'INFO',
    'ERROR',
    'eRRor',
    '[warn]',
    '(error)',
    'err:',
    'Warning:',
    'trace_id',
    'infos',
    '/error/',
    '"info"',
    'crİtical',
    'DEBUG|',
    "'fatal'",
  ],
  ...['started', 'a', 'level', 'x=y', '{', '}', '"', 'é', '7', '\ufffd'],
);
const textLine = fc.array(words, { minLength: 1, maxLength: 6 }).map((parts) => parts.join(' '));

const hasLevel = (line: string): boolean => levelFromLine(line) !== undefined;

const lines = fc.uniqueArray(
  fc.oneof(objectLine, pairsLine, textLine).filter((line) => line !== ''),
  { minLength: 20, maxLength: 60 },
);

function digestOf(sample: readonly string[]): LineDigest | undefined {
  const steps = levelQuestion.digestFor(sample);
  for (let step = steps.next(); ; step = steps.next())
    if (step.done === true) return isDeclined(step.value) ? undefined : step.value;
}

async function rowsOf(pipes: readonly LogsqlPipe[], rows: number): Promise<readonly BackendRow[]> {
  const upstream = store.upstream(account, new AbortController().signal, new Trace());
  const range = { startNs: base, endNs: base + BigInt(rows) };
  const found: BackendRow[] = [];
  for await (const batch of upstream.rows({ query: query(and(), pipes), range })) found.push(...batch);
  return found;
}

test('the backend finds the level that a line has', async (t) => {
  let [counted, sent, proven] = [0, 0, 0];
  await fc.assert(
    fc.asyncProperty(lines, fc.integer({ min: 1, max: 40 }), async (all, sampled) => {
      account += 1;
      await store.push(
        account,
        all.map((line, n) => ({ ns: base + BigInt(n), stream: { app: hasLevel(line) ? 'a' : 'b' }, line })),
      );
      // A sample with a line that differs from all others is declined, so each line is repeated.
      const digest =
        digestOf(all.slice(0, sampled).flatMap((line) => Array.from({ length: 9 }, () => line))) ??
        digestOf(Array.from({ length: 9 }, () => all[0] ?? '')) ??
        digestOf(['x']);
      if (digest === undefined) return;
      const check = (rows: readonly BackendRow[], of: LineDigest): void => {
        for (const row of rows) {
          const line = row._msg ?? '';
          const found = of.representativeOf((column) => columnOf(row, column))?.line ?? '';
          t.is(
            levelFromLine(found),
            levelFromLine(line),
            JSON.stringify([line, of.columns.map((column) => columnOf(row, column))]),
          );
          if (of.columns.some((column) => columnOf(row, column) === line)) sent += 1;
        }
      };
      const rows = await rowsOf([...digest.pipes, fields('_msg', ...digest.columns)], all.length);
      t.is(rows.length, all.length);
      counted += rows.length;
      check(rows, digest);
      if (digest.proven === undefined) return;
      const { uncertainLines, digest: cheap, without } = digest.proven;
      const { pipes, filter, withLevel = nothing } = uncertainLines;
      const certain = await rowsOf(
        [...pipes, where(not(filter)), fields('_msg', ...cheap.columns)],
        all.length,
      );
      proven += certain.length;
      check(certain, cheap);
      const levelless = await rowsOf([...pipes, where(and(not(filter), not(withLevel)))], all.length);
      for (const { _msg: line = '' } of levelless) t.false(hasLevel(line), line);
      const sparing = without?.(streamMatch(matcher('app', '=', 'b')));
      if (sparing === undefined) return t.fail();
      const spared = await rowsOf([...sparing.pipes, fields('_msg', ...sparing.columns)], all.length);
      const certainLines = new Set(certain.map(({ _msg }) => _msg));
      check(
        spared.filter(({ _msg }) => certainLines.has(_msg)),
        sparing,
      );
    }),
    { numRuns: deepRuns(60, 400), seed: 20_261_128 },
  );
  t.true(proven > 0 && sent * 1.5 < counted);
});
