import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startDevBackend } from '../../plugins/embedded-backend/dev-backend.js';
import { systemClock } from '../../core/kernel/plugin/exchange.js';
import { packageRoot } from '../../core/kernel/options/index.js';
import { loadPipeline } from '../../core/kernel/pipeline/index.js';
import { startProxy } from '../../core/program/start-proxy.js';
import type { Clock } from '../../core/base/clock.js';
import { CapturedLog } from '../../core/testing/index.js';
import { pushEntries, pushRows } from '../clients/demo-data.js';
import { Relay } from './relay.js';
import { Site } from './site.js';

export const minuteMs = 60_000;
export const hourMs = 60 * minuteMs;
export const day = 24 * hourMs;

/** A line of a stream. */
export interface Line {
  readonly labels: Readonly<Record<string, string>>;
  readonly line: string;
  /** Milliseconds before now. */
  readonly agoMs: number;
  readonly metadata?: Readonly<Record<string, string>>;
}

export interface SiteSettings {
  readonly env?: Readonly<Record<string, string>>;
  /** `X-Scope-OrgID` of requests that do not set one; `undefined` for none. */
  readonly orgId?: string | undefined;
  readonly clock?: Clock;
  /** A relay to use instead of a new one. */
  readonly relay?: Relay;
}

/** A clock that a probe can advance. */
export class MovedClock implements Clock {
  #movedMs = 0;

  advance(ms: number): void {
    this.#movedMs += ms;
  }

  nowMs(): number {
    return systemClock.nowMs() + this.#movedMs;
  }

  nowNs(): bigint {
    return systemClock.nowNs() + BigInt(this.#movedMs) * 1_000_000n;
  }

  monotonicMs(): number {
    return systemClock.monotonicMs() + this.#movedMs;
  }
}

/** The backend of a run, and the tenants that it allocates to probes. */
export class House {
  readonly url: string;
  readonly nowMs = Date.now();
  readonly #close: () => Promise<void>;
  #account: number;

  private constructor(url: string, account: number, close: () => Promise<void>) {
    this.url = url;
    this.#account = account;
    this.#close = close;
  }

  /** The embedded backend, or the one at `url`, which still has the data of earlier runs: each run uses new accounts. */
  static async open(url: string | undefined): Promise<House> {
    if (url !== undefined)
      return new House(url, 1_000 * Math.floor((Date.now() / 1000) % 4_000_000), () => Promise.resolve());
    const backend = await startDevBackend();
    return new House(backend.url, 4_000, () => backend.close());
  }

  takeAccount(): number {
    this.#account += 1;
    return this.#account;
  }

  async close(): Promise<void> {
    await this.#close();
  }
}

/** The environment of one probe; everything is stopped after it. */
export class Lab {
  readonly house: House;
  /** The tenant of this probe. */
  readonly account: number;
  readonly nowMs: number;
  readonly #closers: (() => unknown)[] = [];

  constructor(house: House) {
    this.house = house;
    this.account = house.takeAccount();
    this.nowMs = Date.now();
  }

  get orgId(): string {
    return String(this.account);
  }

  /** Another tenant for this probe. */
  another(): number {
    return this.house.takeAccount();
  }

  /** A time in the past, in the API's format. */
  ago(ms: number): string {
    return String(BigInt(Math.round(this.nowMs - ms)) * 1_000_000n);
  }

  /** The range from `ms` ago until now, or until `untilMs` ago. */
  range(ms: number, untilMs = 0): { readonly start: string; readonly end: string } {
    return { start: this.ago(ms), end: this.ago(untilMs) };
  }

  async push(lines: readonly Line[], account = this.account): Promise<void> {
    const store = { url: this.house.url, isReference: false };
    const entries = lines.map(({ labels, line, agoMs, metadata = {} }, at) => ({
      timestampNs: BigInt(this.ago(agoMs)) + BigInt(at),
      labels,
      line,
      metadata,
    }));
    await pushEntries(store, account, entries);
  }

  async pushRows(
    streamFields: readonly string[],
    rows: readonly Readonly<Record<string, string>>[],
    account = this.account,
  ): Promise<void> {
    const store = { url: this.house.url, isReference: false };
    const timed = rows.map((row, at) => ({ _time: String(BigInt(this.ago(minuteMs)) + BigInt(at)), ...row }));
    await pushRows(store, account, streamFields, timed);
  }

  /** Starts a proxy of the default pipeline with these flags. */
  async site(flags: Readonly<Record<string, string>> = {}, settings: SiteSettings = {}): Promise<Site> {
    const relay = settings.relay ?? (await this.relay());
    const log = new CapturedLog();
    const { pipeline, findings } = await loadPipeline(
      join(packageRoot(), 'pipelines/reference-compatible.yaml'),
      {
        flags: new Map(
          Object.entries({
            listen: '127.0.0.1:0',
            'admin-listen': '127.0.0.1:0',
            'server.register-instrumentation': 'true',
            // The clients of all probes share one address, and cache warming would add calls to those of a probe.
            'rate-limit-per-second': '0',
            'labels-cache-warm': 'false',
            backend: relay.url,
            ...flags,
          }),
        ),
        env: settings.env ?? {},
      },
    );
    if (pipeline === undefined)
      throw new Error(findings.map(({ at, message }) => `${at.file}:${at.line} ${message}`).join('\n'));
    const proxy = await startProxy(pipeline, {
      logTo: log,
      ...(settings.clock === undefined ? {} : { clock: settings.clock }),
    });
    this.later(() => proxy.close());
    return new Site(proxy, log, relay, 'orgId' in settings ? settings.orgId : this.orgId);
  }

  /** Starts a relay in front of the backend. */
  async relay(): Promise<Relay> {
    const relay = await Relay.open(this.house.url);
    this.later(() => relay.close());
    return relay;
  }

  async folder(): Promise<string> {
    const folder = await mkdtemp(join(tmpdir(), 'ref-proxy-audit-'));
    this.later(() => rm(folder, { recursive: true, force: true }));
    return folder;
  }

  /** Runs a function when the probe has ended, in reverse order. */
  later(close: () => unknown): void {
    this.#closers.push(close);
  }

  async close(): Promise<void> {
    for (const close of this.#closers.reverse()) await close();
  }
}

/** Evenly spaced lines of one stream, the newest a minute old. */
export function linesOf(
  labels: Readonly<Record<string, string>>,
  count: number,
  overMs: number,
  text: (at: number) => string = (at) => `level=info line ${at}`,
): readonly Line[] {
  return Array.from({ length: count }, (_, at) => ({
    labels,
    line: text(at),
    agoMs: minuteMs + (at * overMs) / count,
  }));
}

/** Waits for a background event; throws after half a minute. */
export async function until(what: string, isSo: () => Promise<boolean> | boolean): Promise<void> {
  for (let tries = 0; tries < 1_200; tries += 1) {
    if (await isSo()) return;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  throw new Error(`${what} has not happened within half a minute`);
}
