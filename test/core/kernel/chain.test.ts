import test from 'ava';
import type { Answer } from '../../../core/wire/answer/types.js';
import { type ChainLink, Chain, RestMisuse } from '../../../core/kernel/chain.js';
import type { RestUse, SlotName, Stage } from '../../../core/plugin/index.js';
import { makeExchange } from '../../../core/testing/index.js';

const names = (...values: string[]): Answer => ({ kind: 'names', values, warnings: [] });
const end: ChainLink = { id: 'end', rest: 'never', stage: { handle: () => Promise.resolve(names('end')) } };

function link(rest: RestUse, handle: Stage<SlotName, SlotName>['handle'], id = 'under-test'): ChainLink {
  return { id, rest, stage: { handle } };
}

/** A stage that runs the rest of the chain `times` times, one run after another. */
function running(rest: RestUse, times: number): ChainLink {
  return link(rest, async (exchange, run) => {
    let answer = names('own');
    for (let index = 0; index < times; index += 1) answer = await run(exchange);
    return answer;
  });
}

const allowed: readonly (readonly [RestUse, readonly number[], readonly number[]])[] = [
  ['never', [0], [1, 2]],
  ['once', [1], [0, 2]],
  ['maybe', [0, 1], [2]],
  ['many', [0, 1, 5], []],
];
for (const [rest, good, bad] of allowed) {
  test(`a stage that declares rest: ${rest} may run the rest ${good.join(' or ')} times`, async (t) => {
    for (const times of good) {
      const answer = await new Chain([running(rest, times), end]).run(makeExchange());
      t.deepEqual(answer, times === 0 ? names('own') : names('end'));
    }
  });
  if (bad.length === 0) continue;
  test(`a stage that declares rest: ${rest} is named when it runs the rest ${bad.join(' or ')} times`, async (t) => {
    for (const times of bad) {
      const error = await t.throwsAsync(new Chain([running(rest, times), end]).run(makeExchange()), {
        instanceOf: RestMisuse,
      });
      t.true(
        error.message.startsWith(
          `stage "under-test" declares rest: '${rest}' but ran the rest of the chain `,
        ),
      );
    }
  });
}

test('the count is per exchange: a stage with rest: once serves many requests', async (t) => {
  const run = new Chain([running('once', 1), end]).run;
  await run(makeExchange());
  t.deepEqual(await run(makeExchange()), names('end'));
});

test('an error of a stage is its error, not a misuse of the rest', async (t) => {
  const failing = link('once', () => Promise.reject(new Error('no luck')));
  t.is((await t.throwsAsync(new Chain([failing, end]).run(makeExchange()))).message, 'no luck');
});

test('the rest runs in parallel on derived exchanges, each with its own signal', async (t) => {
  const first = new AbortController();
  const arrived: string[] = [];
  let release: () => void = () => undefined;
  const bothHere = new Promise<void>((resolve) => (release = resolve));
  const slow: ChainLink = link('never', async (exchange) => {
    arrived.push(exchange.id);
    if (arrived.length === 2) release();
    await bothHere;
    if (exchange.signal.aborted) return names('aborted');
    return names('kept');
  });
  const split = link('many', async (exchange, run) => {
    const answers = [
      run(exchange.derive({ signal: first.signal })),
      run(exchange.derive({ isFinal: false })),
    ];
    first.abort();
    const [one, two] = await Promise.all(answers);
    t.deepEqual(one, names('aborted'));
    return two ?? names();
  });
  t.deepEqual(await new Chain([split, slow]).run(makeExchange()), names('kept'));
});

test('an exchange whose client is gone reaches no further stage', async (t) => {
  const controller = new AbortController();
  const leaving = link('once', (exchange, run) => {
    controller.abort(new Error('client gone'));
    return run(exchange);
  });
  const unreached = link('never', () => {
    t.fail('the stage behind was reached');
    return Promise.resolve(names());
  });
  const error = await t.throwsAsync(
    new Chain([leaving, unreached]).run(makeExchange({ signal: controller.signal })),
  );
  t.is(error.message, 'client gone');
});

test('a last stage that runs the rest is told that nobody is behind it', async (t) => {
  const error = await t.throwsAsync(new Chain([running('once', 1)]).run(makeExchange()));
  t.regex(error.message, /^no stage answered/);
});

test('a stage that gives no answer is named', async (t) => {
  // Answers of site plugins may not have been type-checked.
  const nothings: readonly unknown[] = [undefined, null, 'names', {}];
  for (const nothing of nothings as readonly Answer[]) {
    const stage = link('never', () => Promise.resolve(nothing));
    await t.throwsAsync(new Chain([stage]).run(makeExchange()), {
      message: /^stage "under-test" returned .* instead of an answer/,
    });
  }
});
