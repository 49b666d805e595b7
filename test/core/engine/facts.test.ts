import test from 'ava';
import { Pacer } from '../../../core/base/pace/steps.js';
import type { Facts } from '../../../core/engine/facts.js';
import { createMemories } from '../../../core/engine/memories.js';
import { engineMetrics } from '../../../core/engine/metrics.js';
import { FakeClock, makeHost } from '../../../core/testing/index.js';

const dayMs = 86_400_000;
const plain = {
  missing: 0,
  hasLines: true,
  hasOverrides: false,
  misparsedRows: 2,
  checksum: '18446744073709551615',
  streamsWithSharedTimes: [],
  repeatedAt: [],
  surplus: [],
  surplusAt: [],
  uncertainRows: [],
  dense: [],
  denseRows: 0,
};
const row = { _time: '2026-11-01T00:00:00Z', _stream: '{a="b"}', _msg: 'line', constructor: 'x' };
/** Every form that a fact can have. */
const facts: readonly (readonly [name: string, fact: unknown])[] = [
  ['stretches', plain],
  [
    'stretches',
    { ...plain, uncertainStreams: ['{a="c"}'], hasOverrides: true, streamsWithSharedTimes: ['{a="b"}'] },
  ],
  ['stretches', { ...plain, repeatedAt: undefined, surplus: undefined }],
  ['stretches', { ...plain, uncertainRows: [{ row, countedLevel: 'info', level: 'error' }] }],
  ['stretches', { ...plain, repeatedAt: ['1793491200000000001', '-5'], surplus: [row, row] }],
  [
    'stretches',
    {
      ...plain,
      surplus: [row],
      surplusAt: [{ stream: '{a="b"}', times: 'AQAAAAAAAAD/////////fw==' }],
      denseRows: 40,
      dense: [{ range: { startNs: '1', endNs: '2' }, streams: ['{a="b"}'], columns: ['_time', '__proto__'] }],
    },
  ],
];

function factsAt(clock: FakeClock): Facts {
  return createMemories({ clock, meters: makeHost({ metrics: engineMetrics }).meters }).facts;
}

async function take(into: Facts, name: string, fact: unknown, expiresAtMs: number): Promise<number> {
  const staged = into.stage();
  staged.add([name], { expires_at_unix_nano: expiresAtMs * 1e6, fact });
  return into.take(staged, new Pacer());
}

test('a fact that was read is written as it was, with the time that it has left', async (t) => {
  const clock = new FakeClock();
  for (const [at, [name, fact]] of facts.entries()) {
    const known = factsAt(clock);
    const key = `${name} ["id=a&accountId=1",${at}] 1-2`;
    t.is(await take(known, key, fact, clock.nowMs() + 5_000), 1);
    clock.advance(2_000);
    const [entry] = [...known.entries()];
    t.deepEqual(entry?.names, [key]);
    // Parsed, because the order of members does not matter.
    const { expires_at_unix_nano, ...rest } = JSON.parse(entry?.json ?? '') as {
      expires_at_unix_nano: number;
    };
    t.deepEqual(rest, { fact: JSON.parse(JSON.stringify(fact)) as unknown });
    t.is(expires_at_unix_nano / 1e6, clock.nowMs() + 3_000);
    t.deepEqual([...known.latest()], [entry]);
    clock.advance(3_000);
    t.deepEqual([...known.entries()], []);
  }
});

test('a fact lives no longer than a day, however late it expires by its file, and one that has expired is not taken', async (t) => {
  const clock = new FakeClock();
  const known = factsAt(clock);
  t.is(await take(known, 'stretches ["id=a&"] 1-2', plain, clock.nowMs()), 0);
  t.is(await take(known, 'stretches ["id=a&"] 1-2', plain, clock.nowMs() + 30 * dayMs), 1);
  clock.advance(dayMs);
  t.deepEqual([...known.entries()], []);
});

test('what is known is not replaced, and what is no fact is refused', async (t) => {
  const clock = new FakeClock();
  const known = factsAt(clock);
  const later = clock.nowMs() + 1_000;
  t.is(await take(known, 'stretches ["id=a&"] 1-2', plain, later), 1);
  t.is(await take(known, 'stretches ["id=a&"] 1-2', { ...plain, missing: 9 }, later), 0);
  for (const [name, change] of [
    ['stretches', { checksum: 5 }],
    ['stretches', { checksum: '1e5' }],
    ['stretches', { missing: -1 }],
    ['stretches', { missing: 0.5 }],
    ['stretches', { hasOverrides: [0] }],
    ['stretches', { denseRows: null }],
    ['stretches', { surplus: [{ _msg: 5 }] }],
    ['stretches', { surplus: ['row'] }],
    ['stretches', { uncertainRows: [{ row: { _msg: 'x' }, level: 'error' }] }],
    ['stretches', { uncertainRows: undefined }],
    ['stretches', { surplusAt: [{ stream: '{}', times: 'AQAAAA==' }] }],
    ['stretches', { surplusAt: [{ stream: '{}' }] }],
    ['stretches', { dense: [{}] }],
    ['stretches', { streamsWithSharedTimes: 'a' }],
    ['spelled-levels', {}],
    ['selections', {}],
    ['', {}],
  ] as const)
    await t.throwsAsync(take(known, `${name} ["id=a&"] 1-2`, { ...plain, ...change }, later));
  await t.throwsAsync(take(known, 'selections ["id=a&"] 1-2', plain, later), {
    message: 'a fact of no kind',
  });
  t.is(known.size, 1);
});

test('what would take too long to write is left out', async (t) => {
  const clock = new FakeClock();
  const known = factsAt(clock);
  const large = { ...plain, surplus: [{ ...row, _msg: 'x'.repeat(1 << 20) }] };
  t.is(await take(known, 'stretches ["id=a&"] 1-2', large, clock.nowMs() + 1_000), 1);
  t.deepEqual([...known.entries()], []);
});

const keysOf = (known: Iterable<{ readonly names: readonly string[] }>): readonly (string | undefined)[] =>
  [...known].map(({ names }) => names[0]);

test('the latest facts come first, and their number changes with them', async (t) => {
  const clock = new FakeClock();
  const known = factsAt(clock);
  const later = clock.nowMs() + 1_000;
  const before = known.revision();
  for (const at of [1, 2, 3]) await take(known, `stretches ["id=a&",${at}] 1-2`, plain, later);
  t.not(known.revision(), before);
  t.is(known.size, 3);
  const [first, second, third] = [1, 2, 3].map((at) => `stretches ["id=a&",${at}] 1-2`);
  t.deepEqual(keysOf(known.latest()), [third, second, first]);
  t.deepEqual(keysOf(known.entries()), [first, second, third]);
});

test('a purge drops the facts of one tenant or all', async (t) => {
  const clock = new FakeClock();
  const known = factsAt(clock);
  const later = clock.nowMs() + 1_000;
  for (const id of ['a', 'ab', 'b']) {
    await take(known, `stretches ["id=${id}&accountId=1"] 1-2`, plain, later);
  }
  known.purge('a');
  t.deepEqual(keysOf(known.entries()), [
    'stretches ["id=ab&accountId=1"] 1-2',
    'stretches ["id=b&accountId=1"] 1-2',
  ]);
  known.purge();
  t.is(known.size, 0);
});

test('facts that depend on credentials are not written', async (t) => {
  const clock = new FakeClock();
  const known = factsAt(clock);
  const key = 'stretches ["id=a&accountId=1&credentials=x","&credentials="] 1-2';
  t.is(await take(known, key, plain, clock.nowMs() + 1_000), 1);
  t.deepEqual([...known.entries()], []);
  const plainKey = 'stretches ["id=a&accountId=1","&credentials="] 1-2';
  t.is(await take(known, plainKey, plain, clock.nowMs() + 1_000), 1);
  t.deepEqual(keysOf(known.entries()), [plainKey]);
});

test('checksums are made with the salt that goes with the facts', (t) => {
  const clock = new FakeClock();
  const known = factsAt(clock);
  const { salt } = factsAt(clock).others();
  t.notDeepEqual(known.others(), { salt });
  known.takeSalt(salt);
  t.deepEqual(known.others(), { salt });
  t.throws(() => {
    known.takeSalt('no salt');
  });
});

test('facts of another process that expire before they are taken are not, and no more are gathered than are kept', async (t) => {
  const clock = new FakeClock();
  const known = factsAt(clock);
  const staged = known.stage();
  const expires = (clock.nowMs() + 1_000) * 1e6;
  for (let at = 0; at < 10_001; at += 1)
    staged.add([`stretches ["id=a&",${at}] 1-2`], { expires_at_unix_nano: expires, fact: plain });
  t.is(staged.memory.entries, 10_000);
  clock.advance(1_001);
  t.is(await known.take(staged, new Pacer()), 0);
  t.is(known.size, 0);
});
