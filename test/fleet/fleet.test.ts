import test from 'ava';
import { readExceptions } from '../conformance/exceptions.js';
import { discoveryOf } from './discovery.js';
import { Fleet } from './fleet.js';
import { leaks } from './leaks.js';
import { corpusFlags, countedCases, Ground, underFaults } from './trial.js';

const seed = 20_261_123;

test.serial('no replica of a fleet shows logs to whom another one was right to show them', async (t) => {
  const report = await leaks({
    requests: 300,
    seed,
    replicas: 2,
    loops: 6,
    discovery: await discoveryOf('static', 2),
    flags: [],
  });
  t.deepEqual(report.leaks, []);
  t.deepEqual([...report.statuses.keys()], [200]);
});

test.serial(
  'a fleet answers rightly while replicas are killed, stopped, slowed, cut off and added',
  async (t) => {
    const ground = await Ground.open(undefined);
    t.teardown(() => ground.close());
    const excepted = readExceptions();
    const cases = countedCases('otel')
      .filter(({ request }) => request.method === 'GET' && !excepted.has(request.id))
      .slice(0, 60);
    const flags = [`-backend=${ground.backend.url}`, ...corpusFlags];
    const fleet = await Fleet.open(4, flags, await discoveryOf('srv', 4), 3);
    t.teardown(() => fleet.close());
    const reports = await underFaults(fleet, ground.backend, cases, {
      seed,
      seconds: 1.5,
      loops: 4,
      pauseMs: 20,
    });
    for (const { fault, asked, failed, wrong } of reports) {
      t.true(asked > 0, fault);
      t.deepEqual([...failed, ...wrong], [], fault);
    }
  },
);
