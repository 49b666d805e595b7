import { Agent } from 'node:http';
import { bodyWays } from '../faults/body-ways-table.js';
import { framingWays } from '../faults/framing-ways-table.js';
import { typeWays } from '../faults/json-ways.js';
import type { Damage } from '../faults/relay.js';
import { Random } from '../watch/random.js';
import { send } from './client.js';
import { faultOf } from './laws.js';
import { gauge, type Pair } from './pair.js';
import { makeRequest, type FuzzRequest } from './requests.js';
import { shrink } from './shrink.js';
import { makeAttack, play } from './sockets.js';

export interface FuzzSettings {
  readonly seed: number;
  readonly requests: number;
  /** The first step, to repeat a part of a longer run. */
  readonly from: number;
  /** The share of requests sent as raw bytes, and of batches in which the backend sends damaged responses. */
  readonly rawShare: number;
  readonly lieShare: number;
  readonly maxTurnMs: number;
}

export interface FuzzOffence {
  readonly step: number;
  readonly what: string;
  readonly request: string;
}

export interface FuzzReport {
  readonly sent: number;
  readonly statuses: ReadonlyMap<number, number>;
  readonly offences: readonly FuzzOffence[];
  readonly longestTurnMs: number;
  /** The slowest requests, as candidates for optimisation; slowness violates no law. */
  readonly slow: readonly { readonly ms: number; readonly request: string }[];
  readonly heldMiB: readonly [before: number, after: number];
}

/** Requests of one batch are in flight at the same time. */
const batchSize = 8;
const warmUp = 400;
const slowMs = 2_000;
const maxGrowthMiB = 32;
const told = ['told text', 'It works!'];
const lies = [...framingWays, ...bodyWays, ...typeWays].filter(({ timeoutMs }) => timeoutMs === undefined);

/** Sends invalid and unusual requests, and watches the program. */
export class Fuzzer {
  readonly #pair: Pair;
  readonly #settings: FuzzSettings;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 64 });
  readonly #offences: FuzzOffence[] = [];
  readonly #statuses = new Map<number, number>();
  readonly #print: (text: string) => void;
  readonly #seen = new Map<string, number>();
  readonly #slow: { readonly ms: number; readonly request: string }[] = [];
  #longestMs = 0;
  #sent = 0;

  constructor(pair: Pair, settings: FuzzSettings, print: (text: string) => void) {
    this.#pair = pair;
    this.#settings = settings;
    this.#print = print;
  }

  async run(): Promise<FuzzReport> {
    const { from, requests } = this.#settings;
    const { proxy } = this.#pair;
    let [before, after] = [0, 0];
    try {
      await this.#warmUp();
      for (let step = from; step < from + requests; step += batchSize) {
        if (before === 0 && step - from >= Math.min(warmUp, requests / 2)) before = await this.#held();
        await this.#batch(step, Math.min(batchSize, from + requests - step));
      }
      after = await this.#held();
      if (after - before > maxGrowthMiB)
        this.#offend(-1, `it holds ${after.toFixed(0)} MiB, ${before.toFixed(0)} at the start`, 'all');
      await this.#checkQuiet();
    } catch (error) {
      const { ending } = proxy;
      this.#offend(
        -1,
        ending === undefined
          ? String(error)
          : `it died: ${ending.code ?? ending.signal ?? ''} ${ending.lastWords.slice(-1_500)}`,
        'the batch before',
      );
    } finally {
      this.#agent.destroy();
    }
    return {
      sent: this.#sent,
      statuses: this.#statuses,
      offences: this.#offences,
      longestTurnMs: this.#longestMs,
      slow: this.#slow,
      heldMiB: [before, after],
    };
  }

  /** The first requests of a process run cold code; their times are left out. */
  async #warmUp(): Promise<void> {
    for (let step = 0; step < 24; step += 1) await this.#faultOf(makeRequest(Random.of(0, step)), true);
  }

  /**
   * Memory with empty caches: they are bounded, and full at the end of a run. The data learned about the backend is also bounded, and
   * stays.
   */
  async #held(): Promise<number> {
    const { proxy } = this.#pair;
    await proxy.flush();
    const { heldMiB } = await proxy.measure({ meter: 'collect' });
    const learnedBytes = await gauge(proxy.url, 'ref_proxy_learned_bytes');
    return heldMiB - learnedBytes / 2 ** 20;
  }

  async #batch(step: number, count: number): Promise<void> {
    const { proxy, relay } = this.#pair;
    const random = Random.of(this.#settings.seed, -1 - step);
    const lies = random.chance(this.#settings.lieShare);
    relay.expect(lies ? liar(random) : undefined);
    await proxy.measure({ meter: 'start' });
    await Promise.all(Array.from({ length: count }, (_, at) => this.#step(step + at, lies)));
    const { longestMs } = await proxy.measure({ meter: 'read' });
    this.#longestMs = Math.max(this.#longestMs, longestMs);
    if (longestMs > this.#settings.maxTurnMs) await this.#blame(step, count, longestMs);
  }

  async #step(step: number, lies: boolean): Promise<void> {
    const { seed, rawShare } = this.#settings;
    const random = Random.of(seed, step);
    this.#sent += 1;
    if (random.chance(rawShare)) await this.#raw(step, random);
    else {
      const made = makeRequest(random);
      const fault = await this.#faultOf(made, lies, true);
      if (fault !== undefined) await this.#tellSmall(step, made, fault, lies);
    }
  }

  async #raw(step: number, random: Random): Promise<void> {
    const attack = makeAttack(random);
    const answers = await play(this.#pair.proxy.url, attack);
    for (const answer of answers) {
      this.#count(answer.status);
      const fault = faultOf(answer, told);
      if (fault !== undefined) this.#offend(step, fault, `by socket: ${attack.name}`);
    }
  }

  async #faultOf(made: FuzzRequest, lies: boolean, counts = false): Promise<string | undefined> {
    const startedAt = performance.now();
    try {
      const answer = await send(this.#pair.proxy.url, made, this.#agent);
      if (counts) {
        this.#count(answer.status);
        this.#noteSlow(performance.now() - startedAt, made);
      }
      // A response to HEAD has no body to check.
      return made.method === 'HEAD' ? undefined : faultOf(answer, lies ? told : []);
    } catch (error) {
      const { ending } = this.#pair.proxy;
      if (ending !== undefined) throw error;
      // A response that had started when the backend failed can only be cut off.
      const isBroken = error instanceof Error && /aborted|ECONNRESET|hang up/.test(error.message);
      return lies && isBroken ? undefined : `no answer: ${String(error)}`;
    }
  }

  async #tellSmall(step: number, made: FuzzRequest, fault: string, lies: boolean): Promise<void> {
    const isNew = !this.#seen.has(kindOf(fault));
    const small =
      isNew && !lies
        ? await shrink(
            made,
            async (smaller) => kindOf((await this.#faultOf(smaller, false)) ?? '') === kindOf(fault),
          )
        : made;
    this.#offend(step, `${fault}${lies ? ' (the backend lied)' : ''}`, shown(small));
  }

  /** Repeats the requests of a batch one by one, to find the one that caused the long turn. */
  async #blame(step: number, count: number, longestMs: number): Promise<void> {
    const turnOf = (made: FuzzRequest): Promise<number> => this.#turnOf(() => this.#faultOf(made, true));
    let blamed = false;
    for (let at = step; at < step + count; at += 1) {
      const random = Random.of(this.#settings.seed, at);
      if (random.chance(this.#settings.rawShare)) continue;
      const made = makeRequest(random);
      const alone = await turnOf(made);
      if (alone <= this.#settings.maxTurnMs) continue;
      blamed = true;
      const isNew = !this.#seen.has('turn');
      const small = isNew
        ? await shrink(made, async (smaller) => (await turnOf(smaller)) > this.#settings.maxTurnMs)
        : made;
      this.#offend(at, `turn: ${alone.toFixed(0)} ms of the event loop`, shown(small));
    }
    if (blamed) return;
    // A coincidence may never repeat; only a long turn that repeats counts.
    const again = await this.#turnOf(() => this.#playAgain(step, count));
    if (again > this.#settings.maxTurnMs) {
      const what = `turn in a batch: ${longestMs.toFixed(0)} ms of the event loop, then ${again.toFixed(0)} ms, of no request alone`;
      this.#offend(step, what, `steps ${step} to ${step + count - 1}`);
    }
  }

  async #playAgain(step: number, count: number): Promise<void> {
    const { seed, rawShare } = this.#settings;
    await Promise.all(
      Array.from({ length: count }, async (_, at) => {
        const random = Random.of(seed, step + at);
        if (random.chance(rawShare)) await play(this.#pair.proxy.url, makeAttack(random));
        else await this.#faultOf(makeRequest(random), true);
      }),
    );
  }

  /** The longest turn during some work, with empty caches. */
  async #turnOf(work: () => Promise<unknown>): Promise<number> {
    const { proxy } = this.#pair;
    await proxy.flush();
    await proxy.measure({ meter: 'start' });
    await work();
    return (await proxy.measure({ meter: 'read' })).longestMs;
  }

  /** When all requests are answered, none may be counted as active. */
  async #checkQuiet(): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    const { proxy } = this.#pair;
    const open = await gauge(proxy.url, '\\w*active_requests');
    // The scrape itself counts as one.
    if (open > 1) this.#offend(-1, `open requests: ${open} are counted as active at the end`, 'all');
    for (const complaint of proxy.complaints.slice(0, 5))
      this.#offend(-1, `complaint: ${complaint.slice(0, 600)}`, 'the log');
  }

  #noteSlow(ms: number, made: FuzzRequest): void {
    if (ms < slowMs || this.#slow.length >= 1_000) return;
    this.#slow.push({ ms, request: shown(made) });
    this.#slow.sort((a, b) => b.ms - a.ms).splice(5);
  }

  #count(status: number): void {
    this.#statuses.set(status, (this.#statuses.get(status) ?? 0) + 1);
  }

  #offend(step: number, what: string, request: string): void {
    this.#offences.push({ step, what, request });
    const kind = kindOf(what);
    const times = (this.#seen.get(kind) ?? 0) + 1;
    this.#seen.set(kind, times);
    if (times <= 3) this.#print(`step ${step}: ${what}\n  ${request}`);
  }
}

/** The kind of a fault, without numbers and names. */
function kindOf(fault: string): string {
  return fault.startsWith('turn') ? (fault.split(':', 1)[0] ?? '') : fault.slice(0, 80).replace(/\d+/g, '0');
}

function shown({ method, path, params, headers, isForm }: FuzzRequest): string {
  return JSON.stringify({ method, path, params, headers, isForm }).slice(0, 1_500);
}

/** Damages 30 % of the calls. */
function liar(random: Random): Damage {
  return (reply) => (random.chance(0.3) ? random.pick(lies).actions(reply, random) : undefined);
}
