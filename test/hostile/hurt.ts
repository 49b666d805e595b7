import { request } from 'undici';
import { openPair, type Pair } from '../fuzz/pair.js';
import { faultOf } from '../fuzz/laws.js';
import type { ProxyAnswer } from '../watch/error-texts.js';
import type { HostileCase } from './cases.js';
import { loadHostile } from './data.js';
import { Neighbours, type Fared } from './neighbours.js';

export interface HostileSettings {
  readonly flags: readonly string[];
  readonly node: readonly string[];
  readonly manyRows: number;
  readonly maxTurnMs: number;
  readonly budgetMiB: number;
  /** Timeout for a response. */
  readonly patienceMs: number;
}

/** The measurements of a hostile query. */
export interface Hurt {
  readonly name: string;
  readonly status: number;
  readonly ms: number;
  readonly longestTurnMs: number;
  /** The peak of live memory above the level before. */
  readonly grownMiB: number;
  /** The growth of RSS, threads and garbage included. */
  readonly residentGrownMiB: number;
  readonly neighbours: Fared;
  readonly offences: readonly string[];
}

const tolerance = 1.2;
/** Frequent enough to see a peak, rare enough to leave time for the query. */
const collectEveryMs = 200;

/** Runs hostile queries against a running program, one after another, and restarts it when a query kills it. */
export class HurtRunner {
  readonly #settings: HostileSettings;
  #pair: Pair | undefined;

  constructor(settings: HostileSettings) {
    this.#settings = settings;
  }

  async close(): Promise<void> {
    await this.#pair?.close();
    this.#pair = undefined;
  }

  /** Runs once for time with other requests in parallel, and once for memory only, because measuring memory takes time. */
  async run(hostile: HostileCase): Promise<Hurt> {
    const timed = await this.#timed(hostile);
    if (timed.offences.some((offence) => offence.startsWith('it died'))) return timed;
    const { grownMiB, died } = await this.#weighed(hostile);
    const allowed = this.#settings.budgetMiB * tolerance;
    const heavy =
      grownMiB > allowed ? [`memory: ${grownMiB.toFixed(0)} MiB live, of ${this.#settings.budgetMiB}`] : [];
    return { ...timed, grownMiB, offences: [...timed.offences, ...heavy, ...died] };
  }

  async #timed(hostile: HostileCase): Promise<Hurt> {
    const pair = await this.#open();
    const { proxy } = pair;
    const neighbours = new Neighbours(proxy.url);
    const offences: string[] = [];
    let longestTurnMs = 0;
    let residentAtStart = 0;
    let residentGrownMiB = 0;
    let answer: ProxyAnswer = { status: 0, contentType: '', text: '' };
    const startedAt = performance.now();
    try {
      residentAtStart = (await proxy.measure({ meter: 'start' })).residentMiB;
      answer = await ask(proxy.url, hostile, this.#settings.patienceMs);
      const fault = faultOf(answer);
      if (fault !== undefined) offences.push(fault);
    } catch (error) {
      offences.push(`no answer: ${String(error)}`);
    }
    const ms = performance.now() - startedAt;
    try {
      const measured = await proxy.measure({ meter: 'read' });
      longestTurnMs = measured.longestMs;
      residentGrownMiB = measured.residentPeakMiB - residentAtStart;
    } catch (error) {
      offences.push(`it died: ${String(error).slice(0, 400)}`);
    }
    const fared = await neighbours.end();
    if (longestTurnMs > this.#settings.maxTurnMs) offences.push(`turn: ${longestTurnMs.toFixed(0)} ms`);
    if (fared.failed.length > 0)
      offences.push(`others: ${fared.failed.length} of ${fared.count} failed: ${fared.failed[0] ?? ''}`);
    if (offences.some((offence) => /^(?:it died|no answer)/.test(offence))) await this.#abandon();
    return {
      name: hostile.name,
      status: answer.status,
      ms,
      longestTurnMs,
      grownMiB: 0,
      residentGrownMiB,
      neighbours: fared,
      offences,
    };
  }

  async #weighed(
    hostile: HostileCase,
  ): Promise<{ readonly grownMiB: number; readonly died: readonly string[] }> {
    const { proxy } = await this.#open();
    try {
      await proxy.flush();
      const { heldMiB } = await proxy.measure({ meter: 'collect' });
      await proxy.measure({ meter: 'start', liveEveryMs: collectEveryMs });
      await ask(proxy.url, hostile, this.#settings.patienceMs);
      const { livePeakMiB } = await proxy.measure({ meter: 'read' });
      await proxy.measure({ meter: 'start' });
      return { grownMiB: Math.max(0, livePeakMiB - heldMiB), died: [] };
    } catch (error) {
      const died =
        proxy.ending === undefined
          ? []
          : [`it died when memory was looked at: ${String(error).slice(0, 300)}`];
      await this.#abandon();
      return { grownMiB: 0, died };
    }
  }

  async #open(): Promise<Pair> {
    const { flags, node, manyRows } = this.#settings;
    this.#pair ??= await openPair(flags, { node, patienceMs: this.#settings.patienceMs }, (url) =>
      loadHostile(url, manyRows),
    );
    return this.#pair;
  }

  /** The program is dead, or busy with work that no request waits for: the next query gets a new one. */
  async #abandon(): Promise<void> {
    await this.#pair?.proxy.kill();
    await this.close();
  }
}

async function ask(
  url: string,
  { path, params, tenant }: HostileCase,
  patienceMs: number,
): Promise<ProxyAnswer> {
  const form = new URLSearchParams(params.map(([name, value]): [string, string] => [name, value]));
  const { statusCode, headers, body } = await request(`${url}${path}`, {
    method: 'POST',
    headers: { 'X-Scope-OrgID': tenant, 'content-type': 'application/x-www-form-urlencoded' },
    body: form.toString(),
    headersTimeout: patienceMs,
    bodyTimeout: patienceMs,
  });
  return { status: statusCode, contentType: String(headers['content-type'] ?? ''), text: await body.text() };
}
