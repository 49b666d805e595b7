/**
 * Replays the corpus and prints the passes by family.
 *
 *   npm run conformance -- [--set http|otel|reports] [--dir DIR] [--family NAME]... [--id ID]... [--failures] [--without STAGE]... [--no-load] [--split MINUTES] [--history MINUTES] [--cluster]
 *
 * --dir (or CONFORMANCE_DIR) names a folder with your own recordings, of any set: `<set>-cases.jsonl`, `<set>-golden.jsonl` and
 * `<set>-data.jsonl` (batches of entries to push), each of which may be gzipped (`.gz`).
 * BACKEND_URL names a real VictoriaLogs; without it the embedded backend is started. --split divides the corpus this number of minutes
 * after its start: older rows are in a cold backend (COLD_URL in addition to BACKEND_URL, both empty), and rows around that time in either
 * or
 * both. --history also divides it: older rows are in a Loki (LOKI_URL in addition to BACKEND_URL, both empty), which the stage loki-history
 * reads; without these variables, the Loki is a proxy with a second embedded backend.
 * --cluster starts a VictoriaLogs cluster from the binary in VICTORIA_LOGS; after the replay one storage node is stopped, and every
 * endpoint is
 * queried again, through a selector that rejects partial responses and one that allows them.
 */
import { parseArgs } from 'node:util';
import { askAll, shortOnes, unclearOnes, type Told } from '../faults/lost-nodes.js';
import { caseFilesOf, casesOf, recordings, type GoldenCase } from './cases.js';
import { startCluster, type Cluster } from './cluster.js';
import { corpusOf, startNsOf, tenantMapOf } from './corpus.js';
import { readExceptions } from './exceptions.js';
import { openProxy, openStore } from './target.js';
import { replay, type Outcome } from './replay.js';
import { printTally } from './tally.js';
import { openHistory } from './history-stores.js';
import { openSplit, splitFlags } from './split-stores.js';

const { values: options } = parseArgs({
  options: {
    set: { type: 'string', default: 'http' },
    dir: { type: 'string', default: process.env['CONFORMANCE_DIR'] ?? recordings },
    family: { type: 'string', multiple: true, default: [] },
    id: { type: 'string', multiple: true, default: [] },
    without: { type: 'string', multiple: true, default: [] },
    failures: { type: 'boolean', default: false },
    /** A flag of the proxy, as `name=value`. */
    flag: { type: 'string', multiple: true, default: [] },
    /** The number of times that each request is sent to the same proxy. */
    times: { type: 'string', default: '1' },
    /** Counters to print at the end, by a part of their name. */
    metric: { type: 'string', multiple: true, default: [] },
    'no-load': { type: 'boolean', default: false },
    split: { type: 'string' },
    history: { type: 'string' },
    cluster: { type: 'boolean', default: false },
  },
});

const cases = casesOf(caseFilesOf(options.set, options.dir)).filter(isWanted);
const corpus = corpusOf(options.set, options.dir);
const splitNs = minutesOn(options.split);
const historyNs = minutesOn(options.history);
const history =
  historyNs === undefined
    ? undefined
    : await openHistory(
        historyNs,
        { loki: process.env['LOKI_URL'], backend: process.env['BACKEND_URL'] },
        !options['no-load'],
        corpus,
      );
const split =
  splitNs === undefined ? undefined : await openSplit(splitNs, externalStores(), !options['no-load'], corpus);
const cluster = options.cluster ? await startCluster(programOfVictoriaLogs()) : undefined;
const backendUrl = cluster?.url ?? process.env['BACKEND_URL'];
const store = split?.hot ?? history?.store ?? (await openStore(backendUrl, !options['no-load'], corpus));
try {
  const flags: (readonly [string, string])[] = [['tenant-map', tenantMapOf(corpus)]];
  for (const text of options.flag) {
    const at = text.indexOf('=');
    flags.push([text.slice(0, at), text.slice(at + 1)]);
  }
  if (split !== undefined && splitNs !== undefined) flags.push(...splitFlags(split, splitNs));
  if (history !== undefined) flags.push(...history.flags);
  if (options.metric.length > 0) flags.push(['server.register-instrumentation', 'true']);
  const proxy = await openProxy(store, options.without, flags, undefined, undefined, history?.pipeline);
  try {
    for (let time = 0; time < Number(options.times); time += 1) report(await replay(proxy.urls.main, cases));
    const metrics = await (await fetch(`${proxy.urls.main}/metrics`)).text();
    for (const line of metrics.split('\n'))
      if (!line.startsWith('#') && options.metric.some((name) => line.includes(name))) console.log(line);
  } finally {
    await proxy.close();
  }
  if (cluster !== undefined) await loseNode(cluster);
} finally {
  await (split ?? history ?? store).close();
  await cluster?.close();
}

function programOfVictoriaLogs(): string {
  const program = process.env['VICTORIA_LOGS'];
  if (program === undefined) throw new Error('VICTORIA_LOGS names no program of VictoriaLogs');
  return program;
}

async function loseNode(cluster: Cluster): Promise<void> {
  let truth: readonly Told[] = [];
  await askAll(cluster.url, [], (told) => {
    truth = told;
  });
  await cluster.stopNode(1);
  for (const [name, selector] of [
    ['a storage node stopped', cluster.url],
    ['with -search.allowPartialResponse', cluster.partialUrl],
  ] as const)
    await askAll(selector, [], (told) => {
      const failed = told.filter(({ status }) => status >= 500).length;
      const short = shortOnes(told, truth);
      const unclear = unclearOnes(told, /storage node/);
      console.log(
        `${name}: ${told.length} asked, ${failed} errors, ${unclear.length} of them unclear, ${short.length} answers short`,
      );
      if (short.length + unclear.length > 0) process.exitCode = 1;
    });
}

/** The time a number of minutes after the start of the corpus. */
function minutesOn(minutes: string | undefined): bigint | undefined {
  return minutes === undefined ? undefined : startNsOf(corpus) + BigInt(minutes) * 60_000_000_000n;
}

function externalStores(): { readonly hot: string; readonly cold: string } | undefined {
  const { BACKEND_URL: hot, COLD_URL: cold } = process.env;
  return hot === undefined || cold === undefined ? undefined : { hot, cold };
}

function isWanted({ request }: GoldenCase): boolean {
  if (options.id.length > 0) return options.id.includes(request.id);
  return request.exact !== false && (options.family.length === 0 || options.family.includes(request.family));
}

function report(outcomes: readonly Outcome[]): void {
  const exceptions = readExceptions();
  if (options.failures)
    for (const { request, difference } of outcomes)
      if (difference !== undefined)
        console.log(`FAIL ${request.id} ${JSON.stringify(request.params)}\n  ${difference}`);
  printTally(outcomes, ({ request }) => request.family);
  printTally(outcomes, () => 'all');
  const excepted = outcomes.filter(
    ({ request, difference }) => difference !== undefined && exceptions.has(request.id),
  );
  if (excepted.length > 0)
    console.log(
      `${excepted.length} of the others stand in test/conformance/exceptions.jsonl, with the reason`,
    );
}
