/** Tests with a real cluster, if VICTORIA_LOGS names the binary; `npm run conformance -- --cluster` prints more details. */
import test from 'ava';
import { askAll, shortOnes, unclearOnes, type Told } from '../faults/lost-nodes.js';
import { startCluster, type Cluster } from './cluster.js';
import { readCases } from './cases.js';
import { readExceptions } from './exceptions.js';
import { replay } from './replay.js';
import { openProxy, openStore } from './target.js';

const program = process.env['VICTORIA_LOGS'];
let cluster: Cluster | undefined;

test.before(async (t) => {
  if (program === undefined) {
    t.log('skipped: VICTORIA_LOGS names no program of VictoriaLogs');
    return;
  }
  cluster = await startCluster(program);
  await openStore(cluster.url, true);
});

test.after.always(async () => {
  await cluster?.close();
});

for (const set of ['http', 'otel'] as const)
  test.serial(`a cluster of VictoriaLogs is answered from as one process is: ${set}`, async (t) => {
    if (cluster === undefined) {
      t.pass();
      return;
    }
    const proxy = await openProxy({ url: cluster.url, close: () => Promise.resolve() });
    try {
      const exceptions = readExceptions();
      const cases = readCases(set).filter(
        ({ request }) => request.exact !== false && !exceptions.has(request.id),
      );
      const outcomes = await replay(proxy.urls.main, cases);
      const differing = outcomes.filter(({ difference }) => difference !== undefined);
      t.deepEqual(
        differing.map(({ request }) => request.id),
        [],
      );
    } finally {
      await proxy.close();
    }
  });

test.serial(
  'a cluster of VictoriaLogs that loses a storage node gives errors that say so, and no short answer',
  async (t) => {
    if (cluster === undefined) {
      t.pass();
      return;
    }
    let truth: readonly Told[] = [];
    await askAll(cluster.url, [], (told) => {
      truth = told;
    });
    await cluster.stopNode(1);
    for (const url of [cluster.url, cluster.partialUrl])
      await askAll(url, [], (told) => {
        t.deepEqual(shortOnes(told, truth), []);
        t.deepEqual(unclearOnes(told, /storage node/), []);
      });
  },
);
