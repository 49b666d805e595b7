import { Agent } from 'node:http';
import { startDevBackend } from '../../plugins/embedded-backend/dev-backend.js';
import { startProxy, type RunningProxy } from '../../core/program/start-proxy.js';
import { loadPipeline } from '../../core/kernel/pipeline/index.js';
import { CapturedLog } from '../../core/testing/index.js';
import { makeDemoData, nanos, pushEntries, pushRows, type DemoData, type Store } from './demo-data.js';
import type { Feature, Scene } from './feature.js';
import { Http, Sent, type Reply } from './http.js';

/** A live line that a feature writes. */
export interface LiveLine {
  readonly labels: Readonly<Record<string, string>>;
  readonly line: string;
  readonly metadata?: Readonly<Record<string, string>>;
  /** Milliseconds; defaults to now. */
  readonly atMs?: number;
}

/** Servers to run against; the embedded backend by default. */
export interface StageSettings {
  readonly backendUrl?: string | undefined;
  readonly referenceUrl?: string | undefined;
}

/** Backend, proxies and data of one run of the suite. */
export class Stage {
  readonly data: DemoData;
  /** Account of the data; features write to the next one. */
  readonly account: number;
  readonly #store: Store;
  readonly #proxies = new Map<string, Promise<RunningProxy>>();
  readonly #closers: (() => Promise<void>)[] = [];
  readonly #agent = new Agent({ keepAlive: true });

  private constructor(store: Store, account: number, data: DemoData) {
    this.#store = store;
    this.account = account;
    this.data = data;
  }

  /**
   * Fills the embedded backend, or a real VictoriaLogs at `backendUrl`, with the demo data. With `referenceUrl`, a Loki replaces both
   * backend and proxy, to verify that the expectations of the suite match Loki.
   */
  static async open({ backendUrl, referenceUrl }: StageSettings = {}): Promise<Stage> {
    const url = backendUrl ?? referenceUrl;
    const own = url === undefined ? await startDevBackend() : undefined;
    const nowMs = Date.now();
    // A real backend keeps the data of earlier runs, so each run uses separate accounts.
    const account = own === undefined ? 2_100 + 2 * Math.floor((nowMs / 1000) % 1_000_000_000) : 2_100;
    const store: Store = { url: own?.url ?? url ?? '', isReference: referenceUrl !== undefined };
    const stage = new Stage(store, account, makeDemoData(nowMs));
    if (own !== undefined) stage.#closers.push(() => own.close());
    await pushEntries(store, account, stage.data.entries);
    return stage;
  }

  /** True if the suite runs against a Loki instead of the proxy. */
  get isReference(): boolean {
    return this.#store.isReference;
  }

  /** Tenant that features write to. */
  get liveOrgId(): string {
    return String(this.account + 1);
  }

  /** Address of a proxy with these flags in addition to the defaults; features with equal flags share one proxy. */
  async proxyUrl(flags: Readonly<Record<string, string>> = {}): Promise<string> {
    if (this.#store.isReference) return this.#store.url;
    const key = JSON.stringify(flags);
    const proxy = this.#proxies.get(key) ?? this.#startProxy(flags);
    this.#proxies.set(key, proxy);
    return (await proxy).urls.main;
  }

  /** Writes lines to the live tenant; returns when they are visible. */
  async push(lines: readonly LiveLine[]): Promise<void> {
    const entries = lines.map(({ labels, line, metadata = {}, atMs = Date.now() }, index) => ({
      timestampNs: nanos(atMs) + BigInt(index),
      labels,
      line,
      metadata,
    }));
    await pushEntries(this.#store, this.account + 1, entries);
  }

  /** Writes rows as stored from OpenTelemetry to the live tenant. */
  async pushRows(
    streamFields: readonly string[],
    rows: readonly Readonly<Record<string, string>>[],
  ): Promise<void> {
    await pushRows(this.#store, this.account + 1, streamFields, rows);
  }

  /** Runs a feature; returns the names and number of its requests. Throws where the client fails. */
  async play(feature: Feature, change?: (reply: Reply) => Reply): Promise<Sent> {
    const sent = new Sent();
    const scene: Scene = {
      http: new Http(await this.proxyUrl(), sent, this.#agent, change),
      data: this.data,
      orgId: String(this.account),
      stage: this,
    };
    await feature.run(scene);
    const [seen, told] = [[...sent.names].sort(), [...feature.sends].sort()];
    if (seen.join() !== told.join()) {
      throw new Error(`sent ${seen.join(', ')}, but its description says ${told.join(', ')}`);
    }
    return sent;
  }

  async close(): Promise<void> {
    this.#agent.destroy();
    for (const proxy of this.#proxies.values()) await (await proxy).close();
    for (const close of this.#closers) await close();
  }

  async #startProxy(more: Readonly<Record<string, string>>): Promise<RunningProxy> {
    const flags = new Map(
      Object.entries({
        backend: this.#store.url,
        listen: '127.0.0.1:0',
        'admin-listen': '127.0.0.1:0',
        // All clients of the suite share one address.
        'rate-limit-per-second': '0',
        ...more,
      }),
    );
    const { pipeline, findings } = await loadPipeline('pipelines/reference-compatible.yaml', {
      flags,
      env: {},
    });
    if (pipeline === undefined) {
      throw new Error(findings.map(({ at, message }) => `${at.file}:${at.line} ${message}`).join('\n'));
    }
    return startProxy(pipeline, { logTo: new CapturedLog() });
  }
}
