import test from 'ava';
import { spread } from '../setup/samples.js';
import { readCases } from './cases.js';
import { conformanceCorpus, startNsOf } from './corpus.js';
import { readExceptions } from './exceptions.js';
import { openHistory } from './history-stores.js';
import { openProxy } from './target.js';
import { replay } from './replay.js';

const untilNs = startNsOf(conformanceCorpus) + 30n * 60_000_000_000n;

test.serial(
  'with the older part of the corpus in an old Loki, requests are answered as the recorded Loki did',
  async (t) => {
    t.timeout(900_000);
    const exceptions = readExceptions();
    const history = await openHistory(untilNs);
    try {
      const flags = [...history.flags, ['server.register-instrumentation', 'true']] as const;
      const proxy = await openProxy(history.store, [], flags, undefined, undefined, history.pipeline);
      try {
        const cases = spread(readCases('http'), 25).filter(
          ({ request }) => request.exact !== false && !exceptions.has(request.id),
        );
        t.true(cases.length > 20);
        const outcomes = await replay(proxy.urls.main, cases);
        t.deepEqual(
          outcomes.flatMap(({ request, difference }) =>
            difference === undefined ? [] : [[request.id, difference]],
          ),
          [],
        );
        const metrics = await (await fetch(`${proxy.urls.main}/metrics`)).text();
        const found = /^ref_proxy_loki_history_requests_total\{route="both"\} (\d+)$/m.exec(metrics);
        t.true(Number(found?.[1]) > 0, 'some of them need both');
      } finally {
        await proxy.close();
      }
    } finally {
      await history.close();
    }
  },
);
