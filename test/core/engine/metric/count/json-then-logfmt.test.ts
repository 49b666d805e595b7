import test from 'ava';
import fc from 'fast-check';
import { deepRuns } from '../../../../setup/runs.js';
import { base, second } from './json-lines.js';
import { LineStore, repeatedLines } from './line-store.js';

let store: LineStore;

test.before(async () => {
  store = await LineStore.open(72_000);
});
test.after.always(() => store.close());

const values = [
  '200',
  '"404"',
  '"a=b"',
  '"?status=5"',
  '" status=5 "',
  '"status=7"',
  '1.5',
  '{"status":3}',
  '""',
];
const keys = ['status', 'http_status', 'http', 'msg', 'url', 'status_code'];
const member = fc
  .tuple(fc.constantFrom(...keys), fc.constantFrom(...values))
  .map(([key, value]) => `"${key}":${value}`);
const blanks = fc.constantFrom('', '', '', ' ', '\t', '\u00a0', '\n', 'x ');
const object = fc
  .tuple(blanks, fc.array(member, { maxLength: 4 }), fc.constantFrom('}', '}', '}', '} status=9', '', '}}'))
  .map(([before, members, end]) => `${before}{${members.join(',')}${end}`);
const pair = fc
  .tuple(
    fc.constantFrom(...keys, 'status.code', '{status', '"status'),
    fc.constantFrom('200', '404', '"x y"', '{"status":1}', '"{"', '', '5ms'),
  )
  .map(([key, value]) => `${key}=${value}`);
const pairs = fc
  .tuple(blanks, fc.array(pair, { minLength: 1, maxLength: 4 }))
  .map(([before, made]) => before + made.join(' '));
const other = fc.constantFrom('plain text', '[1,{"status":2}] status=3', '"status"', '{', 'status');
const kinds = [object, pairs, fc.oneof(object, pairs, other)];

const metadata: readonly Readonly<Record<string, string>>[] = [{ status: 'meta' }, { team: 'blue' }];
const drops = 'drop __error__, __error_details__';

const queries = [
  `sum by (status) (count_over_time({app=~".+"} | json | logfmt | ${drops} | status!="" [60s]))`,
  `sum by (http_status) (rate({app=~".+"} | json | logfmt | ${drops} [120s]))`,
  `sum by (status_code, msg) (count_over_time({app=~".+"} | json | logfmt | ${drops} [60s]))`,
  'sum by (status) (count_over_time({app=~".+"} | json | logfmt | __error__="" [60s]))',
  'sum by (status) (count_over_time({app=~".+"} | json | logfmt [60s]))',
  `sum by (app) (count_over_time({app=~".+"} | json | logfmt | ${drops} | status >= 300 [60s]))`,
  `sum by (status) (bytes_over_time({app="a"} | json | logfmt | ${drops} [60s]))`,
  `quantile_over_time(0.7, {app=~".+"} | json | logfmt | ${drops} | unwrap status | __error__="" [90s]) by (app)`,
  `last_over_time({app=~".+"} | json | logfmt | ${drops} | unwrap duration(status) | __error__="" [60s]) by (http)`,
];

for (const [index, line] of kinds.entries())
  test.serial(`lines that two parsers read count as they would one by one, ${index}`, async (t) => {
    t.timeout(300_000);
    await fc.assert(
      fc.asyncProperty(
        repeatedLines(line, (at) => metadata[at % 24]),
        async (stored) => {
          await store.push(stored);
          await store.compare(t, queries);
        },
      ),
      { numRuns: deepRuns(2, 6) },
    );
  });

const lines = [
  (at: number): string =>
    JSON.stringify({ msg: `request ${at}`, status: at % 7 === 0 ? 500 : 200, took: at }),
  (at: number): string => `msg="request ${at}" status=${at % 7 === 0 ? 500 : 200} took=${at}`,
];

for (const [index, lineAt] of lines.entries())
  test.serial(`lines that one of two parsers reads are counted by the backend, ${index}`, async (t) => {
    const entryAt = (at: number): Parameters<LineStore['push']>[0][number] => ({
      ns: base + 1n + BigInt(at % 290) * second + BigInt(at),
      stream: { app: 'a', pod: `p${at % 3}` },
      line: lineAt(at),
    });
    await store.push(Array.from({ length: 1_000 }, (_none, at) => entryAt(at)));
    const counted = `sum by (status) (count_over_time({app="a"} | json | logfmt | ${drops} | status!="" [60s]))`;
    const gathered = `quantile_over_time(0.9, {app="a"} | json | logfmt | ${drops} | unwrap took | __error__="" [60s]) by (status)`;
    await store.compare(t, [counted, gathered]);
    t.is((await store.tried(counted)).at(-1), 'statistics:ran');
    t.is((await store.tried(gathered)).at(-1), 'value-groups:ran');
  });
