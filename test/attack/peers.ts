import { Agent } from 'node:http';
import { request } from 'undici';
import { conformanceCorpus, tenantMapOf } from '../conformance/corpus.js';
import { openProxy, openStore } from '../conformance/target.js';
import { discoveryOf } from '../fleet/discovery.js';
import { Fleet, peerToken } from '../fleet/fleet.js';
import type { Wire } from '../fleet/wire.js';
import { gauge } from '../fuzz/pair.js';
import { send, type SentAnswer } from '../fuzz/client.js';
import { Random } from '../watch/random.js';
import { judgeAnswer, questions } from './caches.js';
import { withMemory } from './lanes.js';
import { LyingPeer } from './lying-peer.js';
import { Tally, type AttackReport, type AttackSettings } from './tally.js';

/** Up to 8 answers of up to 32 MiB arrive at once, and freed memory is returned late. */
const maxGrowthMiB = 1_024;
const roundOf = 48;
const atOnce = 8;

/**
 * Two replicas, one of which reaches the other through a lying peer: it sends values of other keys and tenants, changed values, endless
 * bodies and redirects. Every answer must equal that of a single proxy, and the cost of a lie is bounded.
 */
export async function attackPeers({ seed, runs, backendUrl }: AttackSettings): Promise<AttackReport> {
  const tally = new Tally();
  const store = await openStore(backendUrl, true);
  const liar = await LyingPeer.open(new Random(seed));
  const agent = new Agent({ keepAlive: true, maxSockets: atOnce });
  try {
    const control = await openProxy(store, withMemory, [['cache-disabled', 'true']]);
    let right: readonly SentAnswer[];
    try {
      right = await Promise.all(questions.map((question) => send(control.urls.main, question, agent)));
    } finally {
      await control.close();
    }
    const wires: Wire[] = [];
    const known = await discoveryOf('static', 2);
    const fleet = await Fleet.open(
      2,
      [
        `-backend=${store.url}`,
        `-tenant-map=${tenantMapOf(conformanceCorpus)}`,
        '-rate-limit-per-second=0',
        '-max-entries-limit-per-query=5000',
        '-labels-cache-warm=false',
        '-compat-cache-enabled=false',
        // Timeouts for requests to peers, long enough that the lies arrive.
        '-peer-patience=200ms',
        '-peer-timeout=1s',
        '-peer-hot-read-ahead-enabled=true',
        '-peer-hot-read-ahead-interval=1s',
        '-peer-hot-read-ahead-jitter=0s',
        '-peer-hot-read-ahead-error-backoff=1s',
      ],
      {
        ...known,
        openWire: async (number) => {
          const wire = await known.openWire(number);
          wires.push(wire);
          return wire;
        },
      },
    );
    try {
      const [lied, honest] = fleet.replicas;
      if (lied === undefined || honest === undefined) throw new Error('there are two replicas');
      // All requests from the one to the other pass through the liar.
      liar.speakFor(honest.url);
      wires[1]?.leadTo(liar.port);
      const before = await heldMiB(lied.url);
      for (let round = 0, asked = 0; asked < runs; round += 1) {
        const random = Random.of(seed, round);
        const chosen = Array.from({ length: Math.min(roundOf, runs - asked) }, () =>
          random.below(questions.length),
        );
        asked += chosen.length;
        // The other replica has the values; the first one has none.
        await Promise.all(chosen.map((at) => ask(honest.url, at, agent)));
        await purge(lied.url);
        await Promise.all(
          chosen.map(async (at) =>
            judgeAnswer(tally, await ask(lied.url, at, agent), right[at], `round ${round}`, questions[at]),
          ),
        );
        await Promise.all(Array.from({ length: 4 }, () => bringForged(lied.url, random, tally)));
      }
      const grown = (await heldMiB(lied.url)) - before;
      tally.add('MiB that it grew by', Math.max(0, Math.round(grown)));
      tally.add('values taken from the peer', await gauge(lied.url, 'ref_proxy_peer_cache_hits_total'));
      tally.add('failures of the peer', await gauge(lied.url, 'ref_proxy_peer_cache_errors_total'));
      if (grown > maxGrowthMiB) tally.find(`it holds ${grown.toFixed(0)} MiB more than at the start`);
      for (const [name, count] of [...liar.told].sort()) tally.add(`times ${name}`, count);
      if (liar.trapped > 0) tally.find(`${liar.trapped} redirects were followed`);
    } finally {
      await fleet.close();
    }
  } finally {
    agent.destroy();
    liar.close();
    await store.close();
  }
  return tally;
}

function ask(url: string, at: number, agent: Agent): Promise<SentAnswer> {
  const question = questions[at];
  if (question === undefined) throw new Error(`there is no question ${at}`);
  return send(url, question, agent);
}

const withToken = { 'x-peer-token': peerToken };

async function purge(url: string): Promise<void> {
  const { statusCode, body } = await request(`${url}/_cache/purge`, { method: 'POST', headers: withToken });
  await body.dump();
  if (statusCode !== 200) throw new Error(`the caches were not emptied: ${statusCode}`);
}

/** Pushes a value that was not sealed with the token, with and without the token in the request. */
async function bringForged(url: string, random: Random, tally: Tally): Promise<void> {
  const tenant = random.pick(['t1', 't2', 't3']);
  const value = Buffer.concat([
    Buffer.from(random.pick(['RPPC\u0001', 'RPPC', 'x'])),
    Buffer.alloc(random.pick([0, 60, 4_000]), random.pick(['x', '\0'])),
  ]);
  const hasToken = random.chance(0.5);
  const { statusCode, body } = await request(
    `${url}/_cache/set?ttl_ms=3600000&key=${tenant}:labels:${random.below(9)}`,
    { method: 'POST', headers: hasToken ? withToken : {}, body: value },
  );
  const text = await body.text();
  tally.add('values brought');
  if (!hasToken && statusCode < 400) tally.find(`a value without the token was taken: ${statusCode} ${text}`);
}

async function heldMiB(url: string): Promise<number> {
  const { body } = await request(`${url}/metrics`);
  const found = /^(?:ref_proxy_)?process_resident_memory_bytes(?:\{[^}]*\})? (\S+)/m.exec(await body.text());
  return Number(found?.[1] ?? Number.NaN) / 1024 ** 2;
}
