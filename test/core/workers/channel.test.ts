import test from 'ava';
import { Channel, type Message, type Topic } from '../../../core/workers/channel.js';
import { makeFleet } from './fleet.js';

const echo: Topic<string, string> = { name: 'echo' };

function makeLines(bounds?: ConstructorParameters<typeof Channel>[2]): {
  readonly a: Channel;
  readonly b: Channel;
} {
  const deliver = (to: () => Channel) => (message: Message) => {
    setImmediate(() => to().receive(structuredClone(message)));
    return true;
  };
  const a: Channel = new Channel(
    deliver(() => b),
    undefined,
    bounds,
  );
  const b: Channel = new Channel(
    deliver(() => a),
    undefined,
    bounds,
  );
  return { a, b };
}

test.serial('an end asks, the other answers, or says why not', async (t) => {
  const { a, b } = makeLines();
  b.answer(echo, (text) => `${text}!`);
  t.is(await a.ask(echo, 'hello', 60_000), 'hello!');
  await t.throwsAsync(b.ask(echo, 'hello', 60_000), { message: 'no handler for echo' });
  b.answer(echo, () => Promise.reject(new Error('not today')));
  await t.throwsAsync(a.ask(echo, 'hello', 60_000), { message: 'not today' });
});

test.serial('questions are bounded in number, length and time', async (t) => {
  const { a, b } = makeLines({ maxOpen: 1, maxLength: 20 });
  const first = a.ask(echo, 'x', 1);
  await t.throwsAsync(a.ask(echo, 'y', 60_000), { message: '1 requests are already waiting for an answer' });
  b.answer(echo, () => new Promise(() => undefined));
  await t.throwsAsync(first, { message: /no answer within 1 ms|no handler for echo/ });
  await t.throwsAsync(a.ask(echo, 'x'.repeat(30), 60_000), {
    message: 'a message of 32 characters is longer than 20',
  });
  b.answer(echo, (text) => text.repeat(30));
  await t.throwsAsync(a.ask(echo, 'x', 60_000), { message: 'a message of 32 characters is longer than 20' });
});

test.serial(
  'all workers answer in the order of their numbers; who does not is left out, and that is told',
  async (t) => {
    const fleet = await makeFleet(3);
    const { workers } = fleet;
    for (const worker of workers) worker.answer(echo, (text) => `${text} ${worker.id}`);
    const texts = async (): Promise<readonly string[]> =>
      (await workers[1]?.gather(echo, 'hi', { boundMs: 2_000 }))?.answers.map(({ answer }) => answer) ?? [];
    t.deepEqual(await texts(), ['hi 1', 'hi 2', 'hi 3']);
    const told: unknown[] = [];
    if (workers[1] !== undefined) workers[1].onMissing = (topic, missing) => told.push([topic, missing]);
    const wake = fleet.sleep(3);
    t.deepEqual(await texts(), ['hi 1', 'hi 2']);
    wake();
    t.deepEqual(told, [['echo', [{ worker: 3, reason: 'no answer within 2000 ms' }]]]);
  },
);

test.serial('what a worker misses while it is not there, it is told of when it joins', async (t) => {
  const fleet = await makeFleet(2);
  const [first] = fleet.workers;
  const again = fleet.replace(2);
  const { missing } = (await first?.gather(echo, 'hi', { isOwed: true })) ?? {};
  t.deepEqual(missing, [{ worker: 2, reason: 'it is not running' }]);
  t.deepEqual(await again.join(), ['echo']);
  t.deepEqual(await fleet.replace(2).join(), []);
});
