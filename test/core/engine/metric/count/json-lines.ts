import fc from 'fast-check';
import type { StoredEntry } from '../metric-store.js';

export const base = 1793491200000000000n;
export const second = 1_000_000_000n;

const values = [
  '200',
  '"200"',
  '404',
  '"x y"',
  '"say \\"x\\""',
  '"a\\/b\\\\c"',
  '"a\\nb"',
  '"x \\u0026 y"',
  '"\\ud83d\\ude00"',
  '"\\u0007"',
  '"\\ufffd"',
  '1.50',
  '-0',
  'true',
  '""',
  'null',
  '[1]',
  '{"a":1}',
  '"[1]"',
];
const keys = [
  'status',
  'status_code',
  'status-code',
  'status.code',
  '@status',
  '_status',
  'http',
  ' status',
  'st\\u0061tus',
  'Status',
  'code',
];
const before = [
  '',
  '',
  '',
  '"status":{"code":7},',
  '"status-code":1,',
  '"a":{"status":1},',
  '"http":{"status":7},',
  '"":{"status":7},',
  '"status.code":7,',
  '"status":{"method":"GET","code":200},',
  '"status":{"code ":5},"x":{"code":3},',
  '"e":-inf,',
  '"level":"error",',
  '"st\\u0061tus":5,',
];
const rest = [
  '',
  ',"n":3',
  ',"status ":6',
  ',"st\\u0061tus":6',
  ',"\u00a0status":6',
  ',"msg":"status"',
  ',"msg":"the \\"status\\": 5"',
  ',"msg":"ends with \\"status"',
  ',"msg":"a \\\\ and a \\/"',
  ',"\\tstatus":8',
  ',"\\"status":9',
  ',"\\/status":9',
  ',"msg":"\\q"',
  ',"msg":"\\n"',
  ',"stack":"E: x\\n\\tat \\u003cy\\u003e (C:\\\\n)"',
  ',"msg":"\\ud800"',
  ',"n\\u0065":"x"',
  ',"a":{"x\\ny" :1}',
  ',"status":500',
  ',"http":{"status":1}',
  ',"status":{"code" : 7}',
  ',"msg":"exit code"',
  ',"status.code":8',
  ',"status":{"x.code":8}',
  ',"":{"status":8}',
  ',"status" :8',
  ',"status":{"code":{"a":1}}',
  ',"status":[{"code":7}]',
  ',"status_code\\t":5',
  ',"status":{"code":7}',
  ',"a":NaN',
  ',"a":+1',
  ',"e":1e5',
  ',"a" : [1, {"status":2}]',
  '} tail',
  ',',
  ',"app":"json"',
  ',"level":"warn"',
  ',"severity":"FATAL","level":7',
  ',"team":"json"',
];

const line = fc
  .tuple(
    fc.constantFrom(...before),
    fc.constantFrom(...keys),
    fc.constantFrom(...values),
    fc.constantFrom(...rest),
  )
  .map(([first, key, value, more]) => `{${first}"${key}":${value}${more}}`);
const anyLine = fc.oneof(
  { weight: 8, arbitrary: line },
  line.map((text) => ` ${text} `),
  fc.constantFrom('status=200', '["status"]', '{}', '{"status":200', '\ufeff{"status":200}', '{"n":1}'),
);
export const streams = [{ app: 'a' }, { app: 'b', team: 'red' }, { app: 'c', severity: 'debug' }];
const metadata = [{}, {}, {}, { status: 'meta' }, { team: 'blue' }, { level: 'error' }];

/** A few different lines, each of them many times. */
export const jsonEntries: fc.Arbitrary<readonly StoredEntry[]> = fc
  .uniqueArray(anyLine, { minLength: 1, maxLength: 4 })
  .chain((lines) =>
    fc.array(
      fc.record({
        at: fc.integer({ min: 0, max: 300 }),
        stream: fc.constantFrom(...streams),
        line: fc.constantFrom(...lines),
        more: fc.constantFrom(...metadata),
      }),
      { minLength: 40, maxLength: 80 },
    ),
  )
  .map((made) =>
    made.map(({ at, stream, line: text, more }) => ({
      ns: base + BigInt(at) * second,
      stream,
      line: text,
      metadata: at % 7 === 0 ? more : {},
    })),
  );
