/**
 * `npm run fleet`: replicas in separate processes in front of one backend. Replays the corpus on all of them in turn, compares their
 * backend
 * calls with those of independent replicas, and applies load while replicas are killed, stopped, slowed, cut off and added.
 *
 *   npm run fleet -- [--discovery=static|dns|srv|http|store] [--seconds=10] [--loops=8] [--seed=N] [--set=http|otel] [--no-rounds] [--no-faults]
 *
 * `store` is not a discovery: replicas share a Valkey or Redis, the program `VALKEY_SERVER` or one in the PATH, which is killed and
 * restarted
 * in the third round; use it with --no-faults.
 *
 * BACKEND_URL names a VictoriaLogs with the corpus; without it the embedded backend is used. Exits with 1 if a response failed or was
 * wrong, or
 * if the second round made more than a third of the backend calls of separate replicas.
 */
import { RealStore } from '../plugins/peer-cache/real-store.js';
import { readExceptions } from '../conformance/exceptions.js';
import { readArguments } from '../watch/arguments.js';
import { discoveryOf } from './discovery.js';
import { Fleet } from './fleet.js';
import { Balancer } from './load.js';
import { corpusFlags, countedCases, Ground, p99Of, round, underFaults, type RoundReport } from './trial.js';

const options = readArguments(process.argv.slice(2), [
  'discovery',
  'seconds',
  'loops',
  'pause',
  'seed',
  'set',
  'no-faults',
  'no-rounds',
]);
const seed = options.number('seed', 20_261_123);
const print = (line: string): void => void process.stdout.write(`${line}\n`);
const cases = countedCases(options.text('set', 'http') === 'otel' ? 'otel' : 'http');
const ground = await Ground.open(process.env['BACKEND_URL']);
const complaints: string[] = [];
try {
  const flags = [`-backend=${ground.backend.url}`, ...corpusFlags];
  const discovery = options.text('discovery', 'static');
  if (!options.flag('no-rounds')) await inTurn(flags, discovery);
  if (!options.flag('no-faults')) await faulty(flags, discovery);
} finally {
  await ground.close();
}
for (const text of complaints.slice(0, 20)) print(`  ${text.split('\n', 2).join(' ')}`);
process.exitCode = complaints.length === 0 ? 0 : 1;

/** Replays the corpus on all replicas, and on independent replicas for comparison. */
async function inTurn(flags: readonly string[], discovery: string): Promise<void> {
  const apart = await rounds(await Fleet.open(3, flags));
  const together =
    discovery === 'store'
      ? await overStore(flags)
      : await rounds(await Fleet.open(3, flags, await discoveryOf(discovery, 3)));
  print(`three replicas, ${cases.length} requests in turn, calls of the backend`);
  for (const [index, one] of apart.entries()) {
    const other = together[index];
    if (other === undefined) continue;
    print(
      `round ${index + 1}: apart ${one.backendCalls} (${one.passed}/${one.all} right), ${discovery} ${other.backendCalls} (${other.passed}/${other.all} right)`,
    );
    complaints.push(...other.failures.filter((failure) => !one.failures.includes(failure)));
  }
  const [second, bound] = [together[1]?.backendCalls ?? 0, (apart[1]?.backendCalls ?? 0) / 3];
  if (second > bound) complaints.push(`the second round asked ${second} times, the bound is ${bound}`);
}

/** Replicas that share a store; in the last round it dies, comes back empty, and dies once more. */
async function overStore(flags: readonly string[]): Promise<readonly RoundReport[]> {
  const ends: (() => void | Promise<void>)[] = [];
  const store = await RealStore.start({ teardown: (end) => void ends.push(end) });
  const part = (share: number): number => Math.floor(cases.length * share);
  const turns = new Map([
    [part(0.2), () => store.kill()],
    [part(0.4), () => store.start()],
    [part(0.7), () => store.kill()],
    [part(0.8), () => store.start()],
  ]);
  try {
    const fleet = await Fleet.open(3, [...flags, `-shared-cache-url=${store.url}`]);
    return await rounds(fleet, (index) => turns.get(index)?.());
  } finally {
    for (const end of ends) await end();
  }
}

/** Three rounds, each case on another replica in each; `during` is called before each case of the last one. */
async function rounds(
  fleet: Fleet,
  during?: (index: number) => Promise<void> | void,
): Promise<readonly RoundReport[]> {
  const balancer = new Balancer(fleet.replicas);
  const { backend } = ground;
  try {
    return [
      await round(balancer, backend, cases, 0),
      await round(balancer, backend, cases, 1),
      await round(balancer, backend, cases, 2, during),
    ];
  } finally {
    await balancer.close();
    await fleet.close();
  }
}

/** The same load on a fleet with faults and on one without. */
async function faulty(flags: readonly string[], discovery: string): Promise<void> {
  const reports = await loaded(flags, discovery, false);
  const sound = await loaded(flags, discovery, true);
  print(`seed ${seed}; a load of ${options.number('loops', 8)} loops`);
  for (const [index, { fault, asked, resent, failed, wrong, p50, p99, backendCalls }] of reports.entries()) {
    print(
      `${fault.padEnd(16)} asked ${asked}, resent ${resent}, failed ${failed.length}, wrong ${wrong.length}, p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms, ${backendCalls} calls of the backend; without it p99 ${sound[index]?.p99.toFixed(1)} ms`,
    );
    complaints.push(...failed, ...wrong);
  }
  const [withFaults, without] = [p99Of(reports), p99Of(sound)];
  const times = withFaults / without;
  print(
    `p99 under all faults ${withFaults.toFixed(1)} ms, without any ${without.toFixed(1)} ms, ${times.toFixed(2)} times`,
  );
  if (times > 1.5) complaints.push('p99 under faults is over 1.5 times that without');
}

async function loaded(
  flags: readonly string[],
  discovery: string,
  isSound: boolean,
): Promise<Awaited<ReturnType<typeof underFaults>>> {
  const excepted = readExceptions();
  const known = cases.filter(({ request }) => request.method === 'GET' && !excepted.has(request.id));
  const fleet = await Fleet.open(4, flags, await discoveryOf(discovery, 4), 3);
  const settings = {
    seed,
    seconds: options.number('seconds', 10),
    loops: options.number('loops', 8),
    pauseMs: options.number('pause', 20),
  };
  try {
    return await underFaults(fleet, ground.backend, known, settings, isSound);
  } finally {
    await fleet.close();
  }
}
