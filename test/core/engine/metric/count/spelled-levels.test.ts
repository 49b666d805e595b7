import test from 'ava';
import fc from 'fast-check';
import { runs } from '../../../../setup/samples.js';
import { strategies } from '../../../../../core/engine/metric/strategies.js';
import { MetricStore, rangeRequest, valuesOf, type StoredEntry } from '../metric-store.js';

const hourNs = 3_600_000_000_000n;
/** Starts after whole segments of five minutes, so that the facts learned about them are used again. */
const base = 1793491200000000001n;
const lengthNs = hourNs;
let store: MetricStore;
let account = 90_000;

test.before(async () => {
  store = await MetricStore.open();
});
test.after.always(() => store.close());

/** Ways in which programs write a line with a level; `#` is replaced by words that no other line has. */
const spellings = [
  '# ERROR #',
  'Error: #',
  '#: err #',
  '(warn) #',
  'warning: #',
  'WARNING #',
  '[INFO] # error_count=0',
  'info # interrupted',
  '#|DEBUG|#',
  'trace_id=# fatal',
  'CRITICAL #',
  'eRRor #',
  'crİtical #',
  '# stderr',
  '#',
  '# information',
  'level=info msg="# error"',
  'level=nothing # warn',
  'lvl=WRN #',
  '{"msg":"# error","level":"debug"}',
  '{"a":{"severity":"warn"},"msg":"#"}',
  '{"msg":"# info"}',
  '# <N>error error<N>',
  '{"level":"Metadata","msg":"# warn"}',
  '{"msg":"# INFO","user":{"level":"error"}}',
  '[INFO] # ERROR #',
  'GET /info/# /error',
  'GET /error/# "info"',
  '#.Error: # Error-# {ERROR}',
  '# ünfo éerror ERRORé',
  '#error5 6error',
  'error',
  '',
];

interface Program {
  /** The spellings that it uses. */
  readonly uses: readonly string[];
  readonly lines: readonly { readonly which: number; readonly at: number; readonly words: string }[];
}

const program: fc.Arbitrary<Program> = fc.record({
  uses: fc.uniqueArray(fc.constantFrom(...spellings), { minLength: 1, maxLength: 3 }),
  lines: fc.array(
    fc.record({
      which: fc.nat(2),
      at: fc.integer({ min: 0, max: 3_599 }),
      words: fc.stringMatching(/^[b-z]{3,9}$/),
    }),
    { minLength: 10, maxLength: 30 },
  ),
});

function entriesOf(programs: readonly Program[]): readonly StoredEntry[] {
  return programs.flatMap(({ uses, lines }, index) =>
    lines.map(({ which, at, words }, n) => ({
      ns: base + BigInt(at) * 1_000_000_000n + BigInt(n),
      // Some streams have the labels of another stream and one more.
      stream: { app: `a${index % 2}`, ...(index > 1 ? { pod: `p${index}` } : {}) },
      line: (uses[which % uses.length] ?? '').replaceAll('#', `${words} ${n}`),
    })),
  );
}

const queries = [
  'sum by (detected_level) (count_over_time({app=~".+"} != "zq#" [5m]))',
  'sum by (level, detected_level) (count_over_time({app=~".+"} != "zq#" | drop __error__ [5m]))',
  'sum by (app, detected_level) (rate({app=~".+"} !~ "zq#|err" [10m]))',
  'sum by (pod) (bytes_over_time({app=~".+"} != "zq#" | detected_level="error" [5m]))',
];

async function answers(text: string, pushdown: 'on' | 'off'): Promise<unknown> {
  const request = rangeRequest(text, base - 1n + 300_000_000_000n, base - 1n + lengthNs, 300_000_000_000n);
  return valuesOf((await store.run(request, { account, pushdown })).answer);
}

test.serial(
  'levels that are counted by their words are those of the lines, before and after lines come late',
  async (t) => {
    let asked = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(program, { minLength: 2, maxLength: 5 }), program, async (programs, late) => {
        account += 1;
        await store.push(account, entriesOf(programs));
        const compare = async (): Promise<void> => {
          for (const query of queries) {
            asked += 1;
            const text = query.replace('zq#', `zq${asked}`);
            t.deepEqual(await answers(text, 'on'), await answers(text, 'off'), text);
          }
        };
        await compare();
        await compare();
        await store.push(account, entriesOf([late]));
        await compare();
      }),
      { numRuns: runs(5), seed: 20_261_123 },
    );
  },
);

/** Lines with different words from three programs, and from one whose words do not determine the level. */
const many = Array.from({ length: 400 }, (_, n): readonly StoredEntry[] => {
  const ns = base + BigInt(n) * 8_000_000_000n;
  const words = `w${n.toString(36).replaceAll(/\d/g, 'q')}x`;
  return [
    { ns, stream: { app: 'java' }, line: `${words} ${n % 3 === 0 ? 'ERROR' : 'INFO'} ${words}` },
    {
      ns,
      stream: { app: 'klog' },
      line: `${words} ${n % 2 === 0 ? '"Error syncing pod"' : 'started'} ${words}`,
    },
    // A level in the path of a request does not count, nor does a word such as INFO-ERROR in front of a level.
    {
      ns,
      stream: { app: 'nginx' },
      line: `${words} "GET /${n % 3 === 0 ? 'ERROR' : 'INFO'}/${words} HTTP/1.1" ${n % 5 === 0 ? 'INFO-ERROR INFO ' : ''}${words}`,
    },
    ...(n % 4 === 0
      ? [{ ns, stream: { app: 'mixed' }, line: `${words} ${n % 8 === 0 ? 'eRRor' : 'done'} ${words}` }]
      : []),
  ];
}).flat();

test.serial(
  'where every stream has lines whose words mean several levels, the first of them counts',
  async (t) => {
    for (const apps of [1, 2]) {
      account += 1;
      const stored = many.flatMap((entry, n): StoredEntry[] => {
        const words = entry.line.split(' ')[0] ?? '';
        const [first, last] = n % 2 === 0 ? ['info', 'error'] : ['error', 'info'];
        return [{ ...entry, stream: { app: `a${n % apps}` }, line: `${words} ${first} ${words} ${last}` }];
      });
      await store.push(account, stored);
      for (const word of ['zqa', 'zqb']) {
        const text = `sum by (app, detected_level) (count_over_time({app=~".+"} != "${word}" [5m]))`;
        t.deepEqual(await answers(text, 'on'), await answers(text, 'off'), `${apps} ${word}`);
      }
    }
  },
);

test.serial('only lines of streams whose words do not tell are read, from the second time on', async (t) => {
  account += 1;
  await store.push(account, many);
  const rowsOf = async (range: string, word: string): Promise<number> => {
    const text = `sum by (detected_level) (${range}({app=~".+"} != "${word}" [5m]))`;
    const request = rangeRequest(text, base - 1n + 300_000_000_000n, base - 1n + lengthNs, 300_000_000_000n);
    const { calls, answer } = await store.run(request, { account });
    t.deepEqual(valuesOf(answer), await answers(text, 'off'));
    return calls.reduce((sum, { rows }) => sum + rows, 0);
  };
  await rowsOf('bytes_over_time', 'zqa');
  const rows = await rowsOf('bytes_over_time', 'zqb');
  // 100 lines of one stream, and a few groups for each of the twelve buckets.
  t.true(rows >= 100 && rows < 250, `${rows} rows`);
  // The same lines correct a count, because their rows are known.
  const groups = await rowsOf('count_over_time', 'zqc');
  t.true(groups < 100, `${groups} rows`);
});

test.serial('the look at all lines is no reason to read them each time', async (t) => {
  account += 1;
  const pods = Array.from({ length: 8 }, (_, pod) =>
    many.map(({ ns, stream, line }) => ({
      ...{ ns, stream: { ...stream, pod: `pod-${pod}` } },
      line: `${line} of ${'abcdefgh'.charAt(pod)}`,
    })),
  );
  await store.push(account, pods.flat());
  const text = 'sum by (detected_level) (count_over_time({app=~".+"} [5m]))';
  const rowsOf = async (stepNs: bigint): Promise<number> => {
    const request = rangeRequest(text, base - 1n + 300_000_000_000n, base - 1n + lengthNs, stepNs);
    const { calls } = await store.run(request, { account, strategies });
    return calls.reduce((sum, { rows }) => sum + rows, 0);
  };
  // The rows sent for the first request are no estimate for a request with twice as many steps.
  const rows = [await rowsOf(300_000_000_000n), await rowsOf(150_000_000_000n)];
  t.true((rows[1] ?? 0) < 4_000, rows.join());
});
