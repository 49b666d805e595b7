/**
 * Reloads a proxy under load: request loops that never pause, tails that stay open, and a pipeline file that changes each time. Stages are
 * added, removed and moved, options change, and some files are broken.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { queryObjects, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Agent, request } from 'undici';
import { AnswerStore } from '../../core/cache/answer-store.js';
import { startDevBackend } from '../../plugins/embedded-backend/dev-backend.js';
import { Life } from '../../core/kernel/plugin/life.js';
import { Generation } from '../../core/program/reload/generation.js';
import { withProxyFile, type ProxyUnderTest } from '../../core/testing/index.js';
import { Admissions } from '../../plugins/guard/admissions.js';
import { BackendStage } from '../../plugins/backend/stage.js';
import { all as allLines, push, TailClient } from '../plugins/tail/fixtures.js';
import { Random } from '../watch/random.js';

export interface LoopSettings {
  readonly reloads: number;
  readonly seed: number;
  readonly loops: number;
  readonly tails: number;
}

export interface LoopFigures {
  readonly swapped: number;
  readonly refused: number;
  readonly unchanged: number;
  readonly answers: number;
  /** Responses with a status other than 200, and broken connections; the first few, as texts. */
  readonly failed: readonly string[];
  /** Tails that were closed, or that did not receive the last line. */
  readonly brokenTails: number;
  /** Reload reports that do not match the file. */
  readonly wrongReports: readonly string[];
  /** Live objects of earlier pipelines after all of them have ended, by class. */
  readonly left: Readonly<Record<string, number>>;
  readonly draining: number;
  /** Mebibytes of heap after a full garbage collection: after the first tenth, and at the end. */
  readonly heapMiB: readonly [early: number, late: number];
  readonly seconds: number;
}

/** A pipeline file; `refused` is expected for one that cannot be served. */
interface Version {
  readonly text: string;
  readonly expected: 'served' | 'refused';
}

/** A stage that delays label listings, so that reloads occur while they run; other requests may be answered by the response cache. */
const noting = `export default {
  kind: 'stage', name: 'noting', summary: 'Passes everything on.', needs: [], gives: [], rest: 'once', behindCaches: true,
  schema: { type: 'object', additionalProperties: false, properties: { tag: { type: 'integer', default: 0 } } },
  create: () => ({
    admitAgain: ({ request }) => (request.op === 'labels' ? undefined : () => true),
    handle: async (exchange, rest) => {
      if (exchange.request.op === 'labels') await new Promise((resolve) => setTimeout(resolve, 30));
      return rest(exchange);
    },
  }),
};
`;

/** The default stages, with a flag for those that may be left out. */
const usual: readonly (readonly [use: string, isOptional: boolean])[] = [
  ['./noting.mjs', false],
  ['tenancy', false],
  ['guard', true],
  ['tier0', true],
  ['kept-patterns', true],
  ['translate', false],
  ['window-split', true],
  ['peer-cache', true],
  ['drilldown', true],
  ['backend', false],
  ['response-shape', false],
];

interface Stage {
  readonly use: string;
  readonly id?: string;
  readonly with: Readonly<Record<string, unknown>>;
}

/** The next file: the default one with one to three changes. */
function nextVersion(random: Random, backend: string): Version {
  const options = new Map<string, Record<string, unknown>>([
    ['backend', { url: backend }],
    ['guard', { rateLimitPerSecond: 0 }],
  ]);
  let stages: Stage[] = usual.map(([use]) => ({ use, with: options.get(use) ?? {} }));
  const changes = 1 + random.below(3);
  for (let change = 0; change < changes; change += 1) stages = changed(stages, random);
  const isBroken = random.below(10) === 0;
  if (isBroken) return { text: broken(stages, random), expected: 'refused' };
  return { text: yamlOf(stages), expected: 'served' };
}

function changed(stages: readonly Stage[], random: Random): Stage[] {
  const all = [...stages];
  const at = random.below(all.length);
  const stage = all[at];
  if (stage === undefined) return all;
  const isOptional = usual.some(([use, optional]) => optional && use === stage.use);
  const added = { use: './noting.mjs', id: `noting-${random.below(1_000)}`, with: { tag: random.below(5) } };
  switch (random.below(4)) {
    case 0:
      // At the top, or anywhere before the last stage.
      all.splice(random.below(all.length), 0, added);
      return uniqueIds(all);
    case 1:
      return isOptional ? all.filter((other) => other !== stage) : all;
    case 2: {
      // Optional built-in stages swap places with a neighbour that does not depend on them.
      const [first, second] = [
        all.findIndex(({ use }) => use === 'tier0'),
        all.findIndex(({ use }) => use === 'kept-patterns'),
      ];
      const [one, other] = [all[first], all[second]];
      if (one !== undefined && other !== undefined) {
        all[first] = other;
        all[second] = one;
      }
      return all;
    }
    default:
      return all.map((other) => ({ ...other, with: { ...other.with, ...optionFor(other.use, random) } }));
  }
}

function optionFor(use: string, random: Random): Readonly<Record<string, unknown>> {
  if (random.below(3) !== 0) return {};
  switch (use) {
    case 'guard':
      return { maxConcurrent: 50 + random.below(3) };
    case 'backend':
      return { timeout: `${30 + random.below(3)}s` };
    case 'peer-cache':
      return { staleIfError: `${1 + random.below(3)}m` };
    case 'drilldown':
      return { burstMaxFields: 20 + random.below(3) };
    case 'kept-patterns':
      return { autodetectFromQueries: random.below(2) === 0 };
    default:
      return {};
  }
}

function uniqueIds(stages: readonly Stage[]): Stage[] {
  const seen = new Set<string>();
  return stages.filter(({ use, id = use }) => !seen.has(id) && seen.add(id));
}

function broken(stages: readonly Stage[], random: Random): string {
  const text = yamlOf(stages);
  switch (random.below(5)) {
    case 0:
      return text.replace('- use: tenancy', '- use: tenency');
    case 1:
      return text.replace(/ {2}- use: backend\n.*\n/, '');
    case 2:
      return text.replace('stages:', 'stages: [');
    case 3:
      return text.replace('- use: tail', '- use: ./gone.mjs');
    default:
      return text.replace('version: 1', 'version: 1\nserver: { httpMaxHeaderBytes: 70000 }');
  }
}

function yamlOf(stages: readonly Stage[]): string {
  const lines = stages.map(
    ({ use, id, with: options }) =>
      `  - use: ${use}\n    with: ${JSON.stringify(options)}\n${id === undefined ? '' : `    id: ${id}\n`}`,
  );
  return `version: 1\nstages:\n${lines.join('')}endpoints:
  - use: reference-api
  - use: patterns
  - use: tail
    with: { refreshInterval: '200ms', maxOpen: 100 }
  - use: status
  - use: admin
`;
}

/** Sends one request after another until it is stopped. */
class AskingLoop {
  answers = 0;
  readonly failed: string[] = [];
  readonly #agent = new Agent({ connections: 1, pipelining: 1 });
  #isStopped = false;
  readonly #done: Promise<void>;

  constructor(url: string, random: Random, fromMs: number) {
    this.#done = this.#run(url, random, fromMs);
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#done;
    await this.#agent.close();
  }

  async #run(url: string, random: Random, fromMs: number): Promise<void> {
    for (let turn = 0; !this.#isStopped; turn += 1) {
      const path = pathOf(random, fromMs);
      try {
        const { statusCode, body } = await request(url + path, { dispatcher: this.#agent });
        const text = await body.text();
        if (statusCode !== 200) this.failed.push(`${statusCode} ${path}: ${text.slice(0, 200)}`);
        this.answers += 1;
      } catch (error) {
        this.failed.push(`${path}: ${String(error)}`);
      }
    }
  }
}

/** Some requests repeat, so that caches and the fast lane answer them, and some are new. */
function pathOf(random: Random, fromMs: number): string {
  const api = '/loki/api/v1';
  const endMs = random.below(2) === 0 ? fromMs : fromMs - random.below(3_600_000);
  const range = `start=${endMs - 7_200_000}000000&end=${endMs}000000`;
  switch (random.below(6)) {
    case 0:
      return `${api}/labels?${range}`;
    case 1:
      return `${api}/label/app/values?${range}`;
    case 2:
      return `${api}/query_range?query=${encodeURIComponent('sum by (app) (count_over_time({app=~".+"}[1m]))')}&step=60&${range}`;
    case 3:
      return `${api}/patterns?query=${encodeURIComponent('{app="a"}')}&${range}`;
    case 4:
      return '/ready';
    default:
      return `${api}/query_range?query=${encodeURIComponent('{app="a"} |= "line"')}&limit=20&${range}`;
  }
}

const counted = { Generation, Life, BackendStage, Admissions, AnswerStore } as const;

/** The number of live objects of each class. */
function alive(): ReadonlyMap<string, number> {
  collect();
  return new Map(
    Object.entries(counted).map(([name, ofClass]) => [name, queryObjects(ofClass, { format: 'count' })]),
  );
}

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

const lastLine = 'the line that came last';

export async function reloadLoop(settings: LoopSettings): Promise<LoopFigures> {
  const backend = await startDevBackend({ maxConcurrentQueries: 1_000 });
  const folder = await mkdtemp(join(tmpdir(), 'ref-proxy-reload-'));
  try {
    const lines = Array.from({ length: 500 }, (_, index) => ({
      text: `line ${index} of many`,
      ageMs: index * 10_000,
    }));
    await push(backend.url, lines);
    const random = new Random(settings.seed);
    const file = join(folder, 'pipeline.yaml');
    await writeFile(join(folder, 'noting.mjs'), noting);
    const first = yamlOf(
      usual.map(([use]) => ({
        use,
        with: use === 'backend' ? { url: backend.url } : use === 'guard' ? { rateLimitPerSecond: 0 } : {},
      })),
    );
    await writeFile(file, first);
    const before = alive();
    return await withProxyFile(file, (under) =>
      run({ ...under, file, first, backend: backend.url, random, before }, settings),
    );
  } finally {
    await backend.close();
    await rm(folder, { recursive: true, force: true });
  }
}

interface Under extends ProxyUnderTest {
  readonly file: string;
  readonly first: string;
  readonly backend: string;
  readonly random: Random;
  readonly before: ReadonlyMap<string, number>;
}

async function run(under: Under, settings: LoopSettings): Promise<LoopFigures> {
  const { proxy, url, file, random } = under;
  const startedMs = Date.now();
  const tails = await Promise.all(
    Array.from({ length: settings.tails }, () => new TailClient(url, allLines).opened()),
  );
  const loops = Array.from(
    { length: settings.loops },
    (_, index) => new AskingLoop(url, new Random(settings.seed + index + 1), startedMs),
  );
  const admin = proxy.urls.admin ?? url;
  const counts = { swapped: 0, refused: 0, unchanged: 0 };
  const wrongReports: string[] = [];
  let earlyBytes = 0;
  for (let turn = 0; turn < settings.reloads; turn += 1) {
    const { text, expected } = nextVersion(random, under.backend);
    await writeFile(file, text);
    const { result, findings } = await reload(admin);
    counts[result] += 1;
    if ((result === 'refused') !== (expected === 'refused'))
      wrongReports.push(`${expected} but ${result}: ${JSON.stringify(findings)}\n${text}`);
    if (turn === Math.floor(settings.reloads / 10)) earlyBytes = heapBytes();
  }
  // The pipeline with which the tails started.
  await writeFile(file, under.first);
  await reload(admin);
  await push(under.backend, [{ text: lastLine }]);
  const hasLast = (tail: TailClient): boolean => tail.lines.includes(lastLine);
  const isBroken = (tail: TailClient): boolean =>
    tail.socket.readyState !== tail.socket.OPEN || !hasLast(tail);
  for (let waited = 0; waited < 10_000 && !tails.every(hasLast); waited += 100) await pause(100);
  const brokenTails = tails.filter(isBroken).length;
  for (const loop of loops) await loop.stop();
  for (const tail of tails) tail.socket.terminate();
  for (let waited = 0; waited < 10_000 && proxy.state.draining > 0; waited += 50) await pause(50);
  await pause(100);
  const own = { Generation: 1, Life: 0, BackendStage: 1, Admissions: 1, AnswerStore: 1 };
  const now = alive();
  const left = Object.fromEntries(
    Object.entries(own).map(([name, ofOne]) => [
      name,
      (now.get(name) ?? 0) - (under.before.get(name) ?? 0) - (name === 'Life' ? livesOf(proxy) : ofOne),
    ]),
  );
  return {
    ...counts,
    answers: loops.reduce((sum, { answers }) => sum + answers, 0),
    failed: loops.flatMap(({ failed }) => failed),
    brokenTails,
    wrongReports,
    left,
    draining: proxy.state.draining,
    heapMiB: [mebibytes(earlyBytes), mebibytes(heapBytes())],
    seconds: Math.round((Date.now() - startedMs) / 100) / 10,
  };
}

function livesOf({ pipeline }: ProxyUnderTest['proxy']): number {
  return pipeline.stages.length + pipeline.endpoints.length + pipeline.services.length;
}

interface Reported {
  readonly result: 'swapped' | 'refused' | 'unchanged';
  readonly findings: readonly unknown[];
}

async function reload(admin: string): Promise<Reported> {
  const { body } = await request(`${admin}/admin/reload`, { method: 'POST' });
  return (await body.json()) as Reported;
}

function heapBytes(): number {
  collect();
  return process.memoryUsage().heapUsed;
}

function mebibytes(bytes: number): number {
  return Math.round((bytes / 1024 ** 2) * 10) / 10;
}
