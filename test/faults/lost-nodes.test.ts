/** Partial responses of a cluster: no response may be short without a warning, and none may be cached. */
import test from 'ava';
import { remembering } from '../conformance/remembering.js';
import { openStore, type Store } from '../conformance/target.js';
import { askAll, lostNode, markedPartial, shortOnes, unclearOnes, type Told } from './lost-nodes.js';
import { DamagingRelay } from './relay.js';

let store: Store | undefined;
let truth: readonly Told[] = [];

test.before(async () => {
  store = await remembering(await openStore(undefined, true));
  await askAll(store.url, [], (told) => {
    truth = told;
  });
});

test.after.always(async () => {
  await store?.close();
});

async function withRelay(use: (relay: DamagingRelay) => Promise<void>): Promise<void> {
  const relay = await DamagingRelay.open(store?.url ?? '');
  try {
    await use(relay);
  } finally {
    relay.close();
  }
}

/** Number of requests that every proxy answers without the backend. */
const withoutBackend = 6;

test.serial('a cluster that may answer in part is asked for whole answers, by every endpoint', async (t) => {
  await withRelay(async (relay) => {
    relay.expect(lostNode(relay));
    await askAll(relay.url, [], async (told, again) => {
      t.deepEqual(shortOnes(told, truth), []);
      t.deepEqual(unclearOnes(told, /cannot reach one of its storage nodes/), []);
      t.true(told.filter(({ status }) => status >= 500).length >= told.length - withoutBackend);
      relay.expect();
      t.deepEqual(await again(), truth);
    });
  });
});

test.serial('an answer that says to be partial is an error that says so, at every endpoint', async (t) => {
  await withRelay(async (relay) => {
    relay.expect(markedPartial);
    await askAll(relay.url, [], async (told, again) => {
      t.deepEqual(shortOnes(told, truth), []);
      t.deepEqual(unclearOnes(told, /it is partial \(vl-partial-response: true\)/), []);
      t.true(told.filter(({ status }) => status >= 500).length >= told.length - withoutBackend);
      relay.expect();
      t.deepEqual(await again(), truth);
    });
  });
});

test.serial(
  'with -query-range-partial-responses each answer without a node warns, and is not kept',
  async (t) => {
    await withRelay(async (relay) => {
      relay.expect(lostNode(relay));
      await askAll(relay.url, [['query-range-partial-responses', 'true']], async (told, again) => {
        const warning = 'partial response: a storage node of the backend is unreachable';
        const unwarned = told.filter(({ status, text }) => status === 200 && !text.includes(warning));
        t.deepEqual(
          shortOnes(
            unwarned,
            unwarned.map(({ question }) => truthOf(question.name)),
          ),
          [],
        );
        t.true(unwarned.length <= withoutBackend);
        t.deepEqual(unclearOnes(told, /maximum number of series/), []);
        relay.expect();
        t.deepEqual(await again(), truth);
      });
    });
  },
);

function truthOf(name: string): Told {
  const told = truth.find(({ question }) => question.name === name);
  if (told === undefined) throw new Error(`${name} was not asked`);
  return told;
}
