/**
 * The first requests of a process are slow, because all of its code runs for the first time. So a process that has begun to serve asks
 * itself the usual questions about a small sample of logs, and says that it is ready when it has answered them (docs/performance.md, The
 * rehearsal). They are answered by a proxy of their own in the same process: it runs the same code, and shares nothing with the other one
 * that anybody could see.
 */
import { once } from 'node:events';
import { Agent, request, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { packageRoot } from '../../kernel/options/index.js';
import { loadPipeline } from '../../kernel/pipeline/index.js';
import { rehearsalMetrics } from '../../kernel/telemetry/metrics-table.js';
import type { Preparation, PreparationHouse } from '../preparation.js';
import { startProxy } from '../start-proxy.js';
import { giveBackMemory } from '../give-back.js';
import type { FakeVictoriaLogs } from '../pipeline-test/fake-victorialogs.js';
import { questions, type Question } from './questions.js';
import { startSampleBackend } from './sample-backend.js';
import { sampleMs } from './sample-rows.js';

/** How often it is looked whether clients still wait for answers. */
const lookEveryMs = 5;
/** How long ago the sample ended: what is that old is past for every cache. */
const agoMs = 2 * 3_600_000;

/** The proxy that is asked does nothing by itself, and reads no rows in threads, whose code is not this one's. */
const flags: ReadonlyMap<string, string> = new Map([
  ['listen', '127.0.0.1:0'],
  ['admin-listen', '127.0.0.1:0'],
  ['drain-timeout', '0'],
  ['rate-limit-per-second', '0'],
  ['log-level', 'error'],
  ['labels-cache-warm', 'false'],
  ['query-range-background-warm', 'false'],
  ['row-threads', '0'],
]);

interface RehearsalSettings {
  /** Of the whole, whatever the machine and its clients do meanwhile. */
  readonly limitMs: number;
  readonly backend: (startMs: number) => Promise<Pick<FakeVictoriaLogs, 'url' | 'close'>>;
}

const usual: RehearsalSettings = {
  limitMs: 10_000,
  backend: startSampleBackend,
};

/** How it ended: all was asked, or the time was over, something failed, the process is stopping. */
type Outcome = 'done' | 'unfinished' | 'failed' | 'stopped';

/** Begins the rehearsal of a process that has just begun to serve. */
export function rehearse(house: PreparationHouse, settings: Partial<RehearsalSettings> = {}): Preparation {
  return new Rehearsal(house, { ...usual, ...settings });
}

class Rehearsal implements Preparation {
  readonly #house: PreparationHouse;
  readonly #settings: RehearsalSettings;
  /** Aborted when the time is over, or the process stops. */
  readonly #ended = new AbortController();
  readonly #running: Promise<void>;
  #isOver = false;
  /** Why it ended before all was asked. */
  #early: Outcome | undefined;

  constructor(house: PreparationHouse, settings: RehearsalSettings) {
    this.#house = house;
    this.#settings = settings;
    this.#running = this.#run();
  }

  get reason(): string | undefined {
    return this.#isOver ? undefined : 'rehearsal running';
  }

  async stop(): Promise<void> {
    this.#end('stopped');
    await this.#running;
  }

  #end(outcome: Outcome): void {
    this.#early ??= outcome;
    this.#ended.abort();
  }

  async #run(): Promise<void> {
    const beganMs = performance.now();
    const limit = setTimeout(() => this.#end('unfinished'), this.#settings.limitMs);
    const opened: (() => unknown)[] = [];
    let outcome: Outcome = 'done';
    let error: unknown;
    try {
      await this.#askAll(opened);
    } catch (caught) {
      // What fails because of the end is no failure.
      outcome = this.#early ?? 'failed';
      error = caught;
    }
    clearTimeout(limit);
    await Promise.allSettled(opened.map((close) => close()));
    if (outcome !== 'stopped' && this.#house.answering() === 0) giveBackMemory();
    this.#isOver = true;
    this.#tell(outcome, performance.now() - beganMs, error);
  }

  #tell(outcome: Outcome, ms: number, error: unknown): void {
    const { log, registry } = this.#house;
    registry.create(rehearsalMetrics).rehearsal_duration_seconds.set(ms / 1000, { outcome });
    const fields = { 'rehearsal.outcome': outcome, 'rehearsal.duration_ms': Math.round(ms) };
    if (outcome === 'failed') log.warn('no rehearsal: the first requests take longer', { ...fields, error });
    else log.info('rehearsal ended', fields);
  }

  /** Puts what is to be closed into `opened`. */
  async #askAll(opened: (() => unknown)[]): Promise<void> {
    const { signal } = this.#ended;
    const startMs = Math.floor(Date.now() / 60_000) * 60_000 - agoMs - sampleMs;
    const backend = await this.#settings.backend(startMs);
    opened.push(() => backend.close());
    const { pipeline, findings } = await loadPipeline(
      join(packageRoot(), 'pipelines', 'reference-compatible.yaml'),
      // What the environment says is meant for the other one.
      { flags: new Map([...flags, ['backend', backend.url]]), env: {} },
    );
    if (pipeline === undefined) throw new Error(findings.map(({ message }) => message).join('; '));
    const proxy = await startProxy(pipeline, { signal, logTo: { write: (_text, done) => done() } });
    opened.push(() => proxy.close());
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    opened.push(() => {
      agent.destroy();
    });
    for (const question of questions(startMs)) {
      while (this.#house.answering() > 0) await pause(lookEveryMs, undefined, { signal });
      await ask(proxy.urls.main, question, { agent, signal });
    }
  }
}

/** Sends a question and reads its answer to the end. */
async function ask(
  url: string,
  { method, path, headers, params }: Question,
  settings: { readonly agent: Agent; readonly signal: AbortSignal },
): Promise<void> {
  const { signal } = settings;
  const isForm = method === 'POST';
  const type = isForm ? { 'Content-Type': 'application/x-www-form-urlencoded' } : {};
  const sent = request(new URL(isForm ? path : `${path}?${params}`, url), {
    ...settings,
    method,
    headers: { ...headers, ...type },
  });
  const answered = once(sent, 'response', { signal });
  sent.end(isForm ? params : undefined);
  const [answer] = (await answered) as [IncomingMessage];
  await once(answer.resume(), 'end', { signal });
  if (answer.statusCode !== 200) throw new Error(`${path} was answered with ${answer.statusCode ?? 0}`);
}
