import test from 'ava';
import { makeCaller } from '../../../core/testing/index.js';
import { readDeletion } from '../../../plugins/delete/index.js';

const day = 86_400_000_000_000n;
const rules = { maxRangeNs: 30n * day, dottedNames: 'reject' } as const;
const good = { query: '{app="x"}', start: '1793491200', end: '1793494800' };
const confirmed = { 'x-delete-confirmation': 'true' };

interface Asked {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly form?: Readonly<Record<string, string>>;
}

function read({ method = 'POST', headers = confirmed, form = good }: Asked): ReturnType<typeof readDeletion> {
  const params = new Map(Object.entries(form).map(([name, value]) => [name, [value]]));
  return readDeletion(
    { method, caller: makeCaller({ headers: new Map(Object.entries(headers)) }), params },
    rules,
  );
}

const wildcardText = 'wildcard delete rejected — query must target specific streams (e.g., {app="nginx"})';
/** Each case also violates the safeguards that come later, to test their order. */
const refusals: readonly (readonly [what: string, asked: Asked, status: number, text: string])[] = [
  ['another method', { method: 'GET', headers: {}, form: {} }, 405, 'DELETE endpoint requires POST method'],
  [
    'no confirmation',
    { headers: {}, form: {} },
    400,
    'delete requires X-Delete-Confirmation: true header for safety',
  ],
  [
    'a confirmation in other words',
    { headers: { 'x-delete-confirmation': 'True' }, form: {} },
    400,
    'delete requires X-Delete-Confirmation: true header for safety',
  ],
  ['no query', { form: { start: 'abc' } }, 400, 'query parameter required for delete'],
  ['{}', { form: { query: '{}' } }, 400, wildcardText],
  ['{ } with spaces', { form: { query: ' { } ' } }, 400, wildcardText],
  ['*', { form: { query: '*' } }, 400, wildcardText],
  ['nothing but spaces', { form: { query: '  ' } }, 400, wildcardText],
  [
    'no start',
    { form: { query: '{', end: 'abc' } },
    400,
    'both start and end parameters required for delete',
  ],
  [
    'no end',
    { form: { query: '{', start: 'abc' } },
    400,
    'both start and end parameters required for delete',
  ],
  [
    'a start that is no time',
    { form: { query: '{', start: 'abc', end: 'def' } },
    400,
    'invalid start timestamp: unrecognized timestamp format: "abc"',
  ],
  [
    'an end that is no time',
    { form: { query: '{', start: '1', end: 'd"f' } },
    400,
    'invalid end timestamp: unrecognized timestamp format: "d\\"f"',
  ],
  [
    'more than thirty days',
    { form: { query: '{', start: '0', end: String(31 * 86_400) } },
    400,
    'delete time range too wide: 744h0m0s exceeds maximum 720h0m0s',
  ],
  ['an end at the start', { form: { query: '{', start: '10', end: '10' } }, 400, 'end must be after start'],
  [
    'an end before the start',
    { form: { query: '{', start: '10', end: '9' } },
    400,
    'end must be after start',
  ],
];
for (const [what, asked, status, text] of refusals) {
  test(`${what} is refused`, (t) => {
    t.like(
      t.throws(() => read(asked)),
      { status, message: text },
    );
  });
}

test('a deletion of exactly thirty days is read, its query not yet', (t) => {
  const { op, query, range } = read({ form: { query: '{', start: '0', end: String(30 * 86_400) } });
  t.is(op, 'delete');
  t.is(query.text, '{');
  t.deepEqual(range, { startNs: 0n, endNs: 30n * day });
});

test('times are read as those of queries', (t) => {
  const ns = 1_793_491_200_000_000_000n;
  for (const start of ['1793491200', '1793491200000000000', '1793491200.000', '2026-11-01T00:00:00Z']) {
    t.is(read({ form: { ...good, start } }).range.startNs, ns, start);
  }
});
