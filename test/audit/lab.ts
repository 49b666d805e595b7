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
  /** `X-Scope-OrgID` of the requests unless they have one; `undefined` for none. */
  readonly orgId?: string | undefined;
  readonly clock?: Clock;
  /** Address of another relay. */
  readonly relay?: Relay;
}

/** A clock that a probe puts forward. */
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

/** The backend of a run, and the tenants that probes take for themselves. */
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

  /** The embedded backend, or the one at `url`, which keeps what earlier runs wrote: each run takes accounts of its own. */
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

/** What one probe works with; everything is stopped after it. */
export class Lab {
  readonly house: House;
  /** A tenant of its own. */
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

  /** Another tenant of its own. */
  another(): number {
    return this.house.takeAccount();
  }

  /** A time before now, as the API reads it. */
  ago(ms: number): string {
    return String(BigInt(Math.round(this.nowMs - ms)) * 1_000_000n);
  }

  /** The range from so long ago until now, or until so long ago. */
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

  /** A proxy of the default pipeline with these flags. */
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
            // The clients of all probes are one address, and the calls of the warm-up would be among those of a probe.
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

  /** A relay before the backend. */
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

  /** Done when the probe has ended, the last one first. */
  later(close: () => unknown): void {
    this.#closers.push(close);
  }

  async close(): Promise<void> {
    for (const close of this.#closers.reverse()) await close();
  }
}

/** Lines of one stream, the same time apart, the newest a minute old. */
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

/** Waits for something that happens in the background; throws when it does not within half a minute. */
export async function until(what: string, isSo: () => Promise<boolean> | boolean): Promise<void> {
  for (let tries = 0; tries < 1_200; tries += 1) {
    if (await isSo()) return;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  throw new Error(`${what} has not happened within half a minute`);
}
