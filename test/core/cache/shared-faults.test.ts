import test from 'ava';
import { Patience } from '../../../core/cache/patience.js';
import { FakeClock } from '../../../core/testing/index.js';
import { answerOf } from './disk-answers.js';
import { FakeStore } from './fake-store.js';
import { acquaint, eventually, put, replicaOf, startedOf, tryPut, type Replica } from './shared.js';

const oom = "-OOM command not allowed when used memory > 'maxmemory'.\r\n";

function saidOf({ records }: Replica, text: string): number {
  return records.filter(({ body }) => body.includes(text)).length;
}

/** Lets time pass until the store is tried again. */
async function tryAgain({ tier, clock }: Replica): Promise<void> {
  clock.advance(10_000);
  await tier.tick();
}

test('a store that is not there, goes and comes back is one log record each time, and keeps nobody waiting', async (t) => {
  const store = await FakeStore.start(t);
  await store.stop();
  const one = await startedOf(t, store.url);
  await eventually(() => Promise.resolve(saidOf(one, 'failed and is off') === 1));
  t.false(one.told.isOn);
  for (let time = 0; time < 3; time += 1) await tryAgain(one);
  t.is(await one.tier.get('shop:a'), undefined);
  one.tier.set('shop:a', answerOf(1), 60_000);
  t.is(one.told.drops.get('off'), 1);
  t.is(saidOf(one, 'failed and is off'), 1);
  await store.listen();
  await eventually(() => tryAgain(one).then(() => one.told.isOn));
  t.is(saidOf(one, 'works again'), 1);
  await acquaint(one, 'shop:a');
  await put(one, 'shop:a', answerOf(1), 1e9);
  await store.stop();
  await eventually(() => Promise.resolve(!one.told.isOn));
  t.is(await one.tier.get('shop:a'), undefined);
  await store.listen();
  await eventually(() => tryAgain(one).then(() => one.told.isOn));
  t.deepEqual((await one.tier.get('shop:a'))?.packed, answerOf(1));
  t.deepEqual([saidOf(one, 'failed and is off'), saidOf(one, 'works again')], [2, 2]);
});

test('attempts to reach a store become rarer, up to ten seconds', async (t) => {
  const store = await FakeStore.start(t);
  store.faults.isClosed = true;
  const one = await startedOf(t, store.url);
  const attempts = (): number => one.told.failures.get('connection') ?? 0;
  await eventually(() => Promise.resolve(attempts() > 0));
  const before = attempts();
  for (let second = 0; second < 60; second += 1) {
    one.clock.advance(1_000);
    await one.tier.tick();
  }
  t.true(attempts() - before <= 10, `${attempts() - before} attempts in a minute`);
});

test('a wrong password, or none, turns the store off and is in no log', async (t) => {
  const store = await FakeStore.start(t);
  store.password = 'right-one';
  for (const url of [
    store.url,
    store.url.replace('//', '//:wr%6Fng-one@'),
    store.url.replace('//', '//:right-one@'),
  ]) {
    const isRight = url.includes('right-one');
    const one = await startedOf(t, url);
    await eventually(() => Promise.resolve(one.told.isOn || one.records.length > 0));
    t.is(one.told.isOn, isRight, url);
    t.is(one.told.failures.has('auth'), !isRight);
    // As an old server does, which repeats what it does not know.
    store.faults.instead = (command, args) =>
      command === 'AUTH' ? `-ERR unknown command AUTH with ${args.join(' ')}\r\n` : undefined;
    const other = await startedOf(t, url);
    const said = [one, other].flatMap(({ records }) =>
      records.map(({ fields: { error, ...fields } }) => [
        JSON.stringify(fields),
        String(error),
        (error as Error).stack,
      ]),
    );
    t.notRegex(JSON.stringify(said), /wr%6Fng-one|wrong-one|right-one/);
    delete store.faults.instead;
  }
});

test('a store that takes no answers is read on, with one log record, and written again when it takes them', async (t) => {
  for (const answer of [oom, "-READONLY You can't write against a read only replica.\r\n"]) {
    const store = await FakeStore.start(t);
    const one = await replicaOf(t, store.url);
    await acquaint(one, 'shop:a');
    await put(one, 'shop:a', answerOf(1));
    store.faults.instead = (command) => (command === 'SET' ? answer : undefined);
    for (const key of ['shop:b', 'shop:c']) await tryPut(one, key, answerOf(2));
    t.deepEqual([one.told.drops.get('full'), one.told.isOn, store.counts.get('SET')], [2, true, 4]);
    t.deepEqual((await one.tier.get('shop:a'))?.packed, answerOf(1));
    one.clock.advance(5_000);
    await tryPut(one, 'shop:b', answerOf(2));
    t.is(saidOf(one, 'takes no answers'), 1);
    delete store.faults.instead;
    one.clock.advance(5_000);
    await put(one, 'shop:b', answerOf(2));
    t.is(saidOf(one, 'takes answers again'), 1);
  }
});

test('a store that speaks nonsense is left, whatever it says, and nothing of it is believed', async (t) => {
  const nonsense: readonly (string | Buffer)[] = [
    'HTTP/1.1 400 Bad Request\r\n\r\n',
    '$4\r\nevil\r\n$4\r\nmore\r\n',
    '*2\r\n$1\r\na\r\n$1\r\nb\r\n*0\r\n:7\r\n',
    '$99999999999\r\nx',
    `${'*1\r\n'.repeat(50_000)}:1\r\n`,
    Buffer.from([0, 1, 2, 255, 254, 13, 10]),
    '+OK\r\n',
    ':12\r\n',
    '_\r\n',
  ];
  for (const answer of nonsense) {
    const store = await FakeStore.start(t);
    const one = await replicaOf(t, store.url);
    await acquaint(one, 'shop:a');
    await put(one, 'shop:a', answerOf(1), 1e9);
    store.faults.instead = () => answer;
    t.is(await one.tier.get('shop:a'), undefined, String(answer).slice(0, 40));
    await eventually(() => one.tier.tick().then(() => !one.told.isOn));
    delete store.faults.instead;
    await eventually(() => tryAgain(one).then(() => one.told.isOn));
    await eventually(async () => (await one.tier.get('shop:a')) !== undefined);
    t.is(saidOf(one, 'failed and is off'), 1);
  }
});

test('a look-up waits for a store that is slow only for a while, and what comes late is handed on', async (t) => {
  const store = await FakeStore.start(t);
  const clock = new FakeClock();
  const one = await replicaOf(t, store.url, clock, { patience: new Patience(() => clock.monotonicMs(), 20) });
  await acquaint(one, 'shop:a');
  // Much time passes below.
  await put(one, 'shop:a', answerOf(1), 1e9);
  store.faults.delayMs = 400;
  const late: Buffer[] = [];
  one.tier.onLate((key, { packed }) => late.push(Buffer.from(key), packed));
  t.is(await one.tier.get('shop:a'), undefined);
  t.deepEqual(late, [], 'whoever asked has gone on');
  await eventually(() => Promise.resolve(late.length >= 2));
  t.deepEqual(late.slice(0, 2), [Buffer.from('shop:a'), answerOf(1)]);
  while (one.told.isOn) await one.tier.get('shop:a');
  t.is(saidOf(one, 'is slow'), 1);
  const asked = store.counts.get('GETRANGE');
  t.is(await one.tier.get('shop:a'), undefined);
  t.is(store.counts.get('GETRANGE'), asked, 'it is not asked any more');
  delete store.faults.delayMs;
  await eventually(() => tryAgain(one).then(() => one.told.isOn));
  await eventually(async () => {
    await tryAgain(one);
    return (await one.tier.get('shop:a')) !== undefined;
  });
});

test('a store that falls silent is left after two seconds, and nothing piles up', async (t) => {
  const store = await FakeStore.start(t);
  const clock = new FakeClock();
  const one = await replicaOf(t, store.url, clock, { patience: new Patience(() => clock.monotonicMs(), 10) });
  await acquaint(one, 'shop:a');
  store.faults.isSilent = true;
  const asked = Array.from({ length: 2_000 }, () => one.tier.get('shop:a'));
  for (let number = 0; number < 2_000; number += 1)
    one.tier.set(`shop:${number}`, answerOf(number, 100), 60_000);
  t.true((await Promise.all(asked)).every((hit) => hit === undefined));
  await eventually(() => Promise.resolve(!one.told.isOn));
  await eventually(() => Promise.resolve(one.tier.waitingBytes === 0));
  t.true((store.counts.get('GETRANGE') ?? 0) <= 1_010);
  await eventually(() => Promise.resolve(store.connections === 0 || one.told.failures.has('timeout')));
  store.faults.isSilent = false;
  await eventually(() => tryAgain(one).then(() => one.told.isOn));
});

test('patience follows what answers take, within bounds, and pauses grow', async (t) => {
  let nowMs = 0;
  const patience = new Patience(() => nowMs);
  t.is(patience.budgetMs, 100);
  for (let time = 0; time < 50; time += 1) patience.took(1);
  t.is(patience.budgetMs, 50);
  for (let time = 0; time < 50; time += 1) patience.took(20);
  t.is(Math.round(patience.budgetMs), 80);
  for (let time = 0; time < 50; time += 1) patience.took(5_000);
  t.is(patience.budgetMs, 100);
  const pauseMs = (): number => {
    while (!patience.isPaused) patience.ended(false);
    const fromMs = nowMs;
    while (!patience.probed(1)) nowMs += 500;
    return nowMs - fromMs;
  };
  t.deepEqual([pauseMs(), pauseMs(), pauseMs()], [1_000, 2_000, 4_000]);
  patience.ended(false);
  nowMs += 60_000;
  t.false(patience.probed(30), 'still slow');
  t.true(patience.isPaused);
  t.is(await patience.wait(Promise.resolve('answer')), 'answer');
});
