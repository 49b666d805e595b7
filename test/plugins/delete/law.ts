import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { ChildProcess } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startDevBackend } from '../../../plugins/embedded-backend/dev-backend.js';
import { pushLoki } from '../embedded-backend/harness.js';
import { freePort, run } from '../../core/program/child.js';

const pipelineOf = (backend: string): string => `
version: 1
stages:
  - use: tenancy
  - use: guard
    with: { rateLimitPerSecond: 0 }
  - use: tier0
  - use: kept-patterns
  - use: label-index
  - use: translate
  - use: window-split
  - use: cold-route
  - use: peer-cache
  - use: drilldown
  - use: backend
    with: { url: '${backend}' }
  - use: response-shape
endpoints:
  - use: reference-api
  - use: patterns
  - use: status
  - use: delete
    with: { pollInterval: 50ms }
`;

/** The log store, and control over the duration of its deletions. */
export interface Ground {
  readonly url: string;
  /** Keeps deletions from finishing until `release` is called. */
  hold(): void;
  release(): void;
  close(): Promise<void>;
}

/** An embedded backend, or the VictoriaLogs at TEST_VICTORIALOGS, whose deletions cannot be held. */
export async function ground(): Promise<Ground> {
  const url = process.env['TEST_VICTORIALOGS'];
  if (url !== undefined)
    return { url, hold: () => undefined, release: () => undefined, close: () => Promise.resolve() };
  let held = Promise.resolve();
  let release = (): void => undefined;
  const backend = await startDevBackend({ beforeDeletion: () => held });
  return {
    url: backend.url,
    hold: () => void (held = new Promise((resolve) => (release = resolve))),
    release: () => release(),
    close: () => backend.close(),
  };
}

/** A replica with all caches, in its own process. */
export class Replica {
  readonly #args: readonly string[];
  readonly #address: string;
  #child: ChildProcess | undefined;

  constructor(place: number, addresses: readonly string[], pipeline: string, folder: string) {
    this.#address = addresses[place] ?? '';
    const own = (name: string): string => join(folder, `${place}-${name}`);
    this.#args = [
      'serve',
      `-pipeline=${pipeline}`,
      `-listen=${this.#address}`,
      '-admin-listen=127.0.0.1:0',
      `-peer-self=${this.#address}`,
      '-peer-discovery=static',
      `-peer-static=${addresses.join(',')}`,
      '-peer-auth-token=token',
      `-disk-cache-path=${own('answers.db')}`,
      '-disk-cache-min-ttl=0s',
      '-disk-cache-flush-interval=20ms',
      `-patterns-persist-path=${own('patterns.json')}`,
      '-patterns-persist-interval=20ms',
      '-patterns-autodetect-from-queries=true',
      '-label-values-indexed-cache=true',
      `-label-values-index-persist-path=${own('labels.json')}`,
      '-label-values-index-persist-interval=20ms',
    ];
  }

  get url(): string {
    return `http://${this.#address}`;
  }

  get isUp(): boolean {
    return this.#child !== undefined;
  }

  async start(): Promise<void> {
    this.#child = run(this.#args, 'ignore');
    while (!(await this.isReady())) {
      if (this.#child.exitCode !== null) throw new Error(`a replica ended with ${this.#child.exitCode}`);
      await pause(20);
    }
  }

  async end(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (child === undefined || child.exitCode !== null) return;
    const ended = once(child, 'exit');
    child.kill(signal);
    await ended;
  }

  async isReady(): Promise<boolean> {
    try {
      return (await fetch(`${this.url}/ready`)).ok;
    } catch {
      return false;
    }
  }

  async delete(query: string, range: Readonly<Record<string, string>>): Promise<number> {
    const answer = await fetch(`${this.url}/loki/api/v1/delete`, {
      method: 'POST',
      headers: { 'x-delete-confirmation': 'true' },
      body: new URLSearchParams({ query, ...range }),
    });
    await answer.text();
    return answer.status;
  }

  /** The responses of all kinds of requests, by path. */
  async shown(
    app: string,
    query: string,
    range: Readonly<Record<string, string>>,
  ): Promise<ReadonlyMap<string, string>> {
    const asked: readonly (readonly [string, Readonly<Record<string, string>>])[] = [
      ['query_range', { query, limit: '100' }],
      ['query_range', { query: `sum by (app) (count_over_time(${query}[1m]))`, step: '60' }],
      ['series', { 'match[]': query }],
      ['label/app/values', {}],
      ['label/app/values', { query }],
      [`label/in_${app}/values`, {}],
      ['labels', { query }],
      ['patterns', { query }],
      ['index/volume', { query }],
      ['detected_labels', { query }],
    ];
    const answers = await Promise.all(
      asked.map(async ([path, form]) => {
        const parameters = new URLSearchParams({ ...range, ...form }).toString();
        const answer = await fetch(`${this.url}/loki/api/v1/${path}?${parameters}`);
        const text = await answer.text();
        if (!answer.ok) throw new Error(`${path} ${answer.status}: ${text}`);
        return [`${path} ${JSON.stringify(form)}`, text] as const;
      }),
    );
    return new Map(answers);
  }
}

export interface LawReport {
  readonly runs: number;
  readonly restarts: number;
  readonly answers: number;
  /** Responses that showed deleted data. */
  readonly wrong: readonly string[];
}

const minuteNs = 60_000_000_000n;
const dayNs = 1440n * minuteNs;

/**
 * For each seed, deletes the logs of an app while replicas are queried, killed, stopped and restarted at times chosen by the seed. After
 * the backend has finished, no response of any replica may show the logs.
 */
export async function tryTheLaw(runs: number, firstSeed = 1): Promise<LawReport> {
  const place = await ground();
  const folder = await mkdtemp(join(tmpdir(), 'ref-proxy-law-'));
  const pipeline = join(folder, 'pipeline.yaml');
  await writeFile(pipeline, pipelineOf(place.url));
  const addresses = [`127.0.0.1:${await freePort()}`, `127.0.0.1:${await freePort()}`];
  const replicas = addresses.map((_, index) => new Replica(index, addresses, pipeline, folder));
  const todayNs = ((BigInt(Date.now()) * 1_000_000n) / dayNs) * dayNs;
  const report = { runs, restarts: 0, answers: 0, wrong: [] as string[] };
  try {
    await Promise.all(replicas.map((replica) => replica.start()));
    for (let seed = firstSeed; seed < firstSeed + runs; seed += 1) {
      // One day per seed: listings of past days are cached, so a new stream in a known day would not appear.
      const fromNs = todayNs - BigInt(2 + (seed % 300)) * dayNs;
      await new Run(seed, fromNs, place, replicas, report).go();
    }
  } finally {
    place.release();
    await Promise.all(replicas.map((replica) => replica.end('SIGKILL')));
    await place.close();
    await rm(folder, { recursive: true, force: true });
  }
  return report;
}

type Counts = { restarts: number; answers: number; readonly wrong: string[] };

class Run {
  readonly #chance: () => number;
  readonly #app: string;
  readonly #query: string;
  private readonly range: Readonly<Record<string, string>>;

  constructor(
    private readonly seed: number,
    private readonly fromNs: bigint,
    private readonly place: Ground,
    private readonly replicas: readonly Replica[],
    private readonly report: Counts,
  ) {
    this.range = { start: String(fromNs), end: String(fromNs + 60n * minuteNs) };
    this.#chance = chances(seed);
    this.#app = `gone${seed}x${process.pid}`;
    this.#query = `{app="${this.#app}"}`;
  }

  async go(): Promise<void> {
    const { place, range } = this;
    await pushLoki(
      place.url,
      { app: this.#app, [`in_${this.#app}`]: this.#app },
      linesFrom(this.fromNs, this.#app),
    );
    await untilSo(async () => (await this.#stored()) > 0);
    await this.#ask();
    for (const [kind, text] of await this.#ask())
      if (!text.includes(this.#app) && !kind.startsWith('detected_labels'))
        throw new Error(`seed ${this.seed}: ${kind} does not show what is there: ${text}`);
    await this.#mayRestart();
    // A replica may be down when the deletion is sent.
    const early = this.#chance() < 0.2 ? this.#any() : undefined;
    if (early !== undefined) await this.#end(early);
    place.hold();
    const deleting = this.#running();
    const status = await deleting[Math.floor(this.#chance() * deleting.length)]?.delete(this.#query, range);
    if (status !== 204) throw new Error(`seed ${this.seed}: the deletion was answered with ${status}`);
    await this.#ask();
    await this.#mayRestart();
    if (this.#chance() < 0.5) await this.#ask();
    // A replica may be down when the backend finishes.
    const absent = early ?? (this.#chance() < 0.3 ? this.#any() : undefined);
    if (absent !== undefined) await this.#end(absent);
    if (this.#chance() < 0.5) await this.#ask();
    place.release();
    await untilSo(async () => (await this.#active()) === '[]' && (await this.#stored()) === 0);
    if (absent?.isUp === false) await absent.start();
    for (let times = 0; times < 3; times += 1) {
      for (const [kind, text] of await this.#ask())
        if (text.includes(this.#app)) this.report.wrong.push(`seed ${this.seed}: ${kind}: ${text}`);
      if (times === 1) await this.#mayRestart();
    }
  }

  /** Sends all requests to all running replicas. */
  async #ask(): Promise<readonly (readonly [string, string])[]> {
    const shown = await Promise.all(
      this.#running().map(async (replica) => [...(await replica.shown(this.#app, this.#query, this.range))]),
    );
    const all = shown.flat();
    this.report.answers += all.length;
    return all;
  }

  #running(): readonly Replica[] {
    return this.replicas.filter(({ isUp }) => isUp);
  }

  #any(): Replica | undefined {
    return this.replicas[Math.floor(this.#chance() * this.replicas.length)];
  }

  async #mayRestart(): Promise<void> {
    const replica = this.#chance() < 0.3 ? this.#any() : undefined;
    if (replica === undefined) return;
    await this.#end(replica);
    await replica.start();
  }

  async #end(replica: Replica): Promise<void> {
    if (!replica.isUp) return;
    this.report.restarts += 1;
    await replica.end(this.#chance() < 0.7 ? 'SIGKILL' : 'SIGTERM');
  }

  async #active(): Promise<string> {
    return (await fetch(`${this.place.url}/delete/active_tasks`)).text();
  }

  async #stored(): Promise<number> {
    const form = new URLSearchParams({ query: `app:="${this.#app}"`, ...this.range });
    const answer = await fetch(`${this.place.url}/select/logsql/query`, { method: 'POST', body: form });
    return (await answer.text()).length;
  }
}

/** An hour of lines with one shape. */
function linesFrom(fromNs: bigint, app: string): readonly [bigint, string][] {
  return Array.from({ length: 60 }, (_none, index): [bigint, string] => [
    fromNs + BigInt(index) * minuteNs,
    `level=info GET /of/${app} took ${index * 7} ms`,
  ]);
}

async function untilSo(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await pause(50);
}

function pause(ms: number): Promise<void> {
  return new Promise((passed) => setTimeout(passed, ms));
}

/** Numbers between 0 and 1, derived from the seed. */
function chances(seed: number): () => number {
  let state = Math.imul(seed, 0x9e3779b1) >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
