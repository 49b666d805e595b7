import test from 'ava';
import { spread } from '../setup/samples.js';
import { readCases } from './cases.js';
import { conformanceCorpus, startNsOf } from './corpus.js';
import { readExceptions } from './exceptions.js';
import { openProxy } from './target.js';
import { replay } from './replay.js';
import { openSplit, splitFlags } from './split-stores.js';

const boundaryNs = startNsOf(conformanceCorpus) + 30n * 60_000_000_000n;

test.serial(
  'with the corpus in a hot and a cold backend, requests are answered as the recorded Loki did',
  async (t) => {
    t.timeout(900_000);
    const exceptions = readExceptions();
    const split = await openSplit(boundaryNs);
    try {
      const proxy = await openProxy(
        split.hot,
        [],
        [...splitFlags(split, boundaryNs), ['server.register-instrumentation', 'true']],
      );
      try {
        const cases = spread([...readCases('http'), ...readCases('otel')], 25).filter(
          ({ request }) => request.exact !== false && !exceptions.has(request.id),
        );
        t.true(cases.length > 30);
        const outcomes = await replay(proxy.urls.main, cases);
        t.deepEqual(
          outcomes.flatMap(({ request, difference }) =>
            difference === undefined ? [] : [[request.id, difference]],
          ),
          [],
        );
        const metrics = await (await fetch(`${proxy.urls.main}/metrics`)).text();
        const [, both = '0'] = /^ref_proxy_cold_routed_total\{route="both"\} (\d+)$/m.exec(metrics) ?? [];
        t.true(Number(both) > cases.length, 'most of them read from both');
      } finally {
        await proxy.close();
      }
    } finally {
      await split.close();
    }
  },
);
