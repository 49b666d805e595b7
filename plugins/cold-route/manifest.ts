import type { Host } from '../../core/plugin/index.js';
import type { ColdContents } from '../../core/victoria/stores/split.js';
import type { BackendAnswer, BackendClient } from '../../core/victoria/upstream/client.js';
import { probeCall } from '../../core/victoria/upstream/probe.js';
import type { coldMetrics } from './metrics.js';

/** Response of `GET /manifest/range`. */
interface Manifest {
  /** The time of the newest row; undefined if there are no files. */
  readonly newestNs: bigint | undefined;
}

/** Number of intervals after which a manifest counts as old. */
const oldAfter = 2;

/** The contents of the cold backend, read periodically. If reading fails, the last known contents are used. */
export class ManifestReader {
  readonly #client: BackendClient;
  readonly #host: Host<typeof coldMetrics>;
  readonly #everyMs: number;
  readonly #timeoutMs: number;
  #manifest: Manifest | undefined;
  #readAtMs = 0;
  #hasFailed = false;
  #timer: NodeJS.Timeout | undefined;
  readonly #stopped = new AbortController();

  constructor(client: BackendClient, host: Host<typeof coldMetrics>, everyMs: number, timeoutMs: number) {
    this.#client = client;
    this.#host = host;
    this.#everyMs = everyMs;
    this.#timeoutMs = timeoutMs;
  }

  /** The contents; undefined before the first successful read. */
  get contents(): ColdContents | undefined {
    if (this.#manifest === undefined) return undefined;
    const ageMs = this.#host.clock.monotonicMs() - this.#readAtMs;
    return { newestNs: this.#manifest.newestNs, isOld: ageMs > oldAfter * this.#everyMs };
  }

  /** Reads the manifest now and after each interval. */
  async start(signal: AbortSignal): Promise<void> {
    await this.#look(signal);
    this.#next();
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#stopped.abort();
  }

  #next(): void {
    if (this.#stopped.signal.aborted) return;
    const look = async (): Promise<void> => {
      await this.#look(this.#stopped.signal);
      this.#next();
    };
    this.#timer = setTimeout(() => void look(), this.#everyMs).unref();
  }

  async #look(ends: AbortSignal): Promise<void> {
    const { clock, log, meters } = this.#host;
    try {
      const signal = AbortSignal.any([ends, AbortSignal.timeout(this.#timeoutMs)]);
      const answer = await this.#client.call(probeCall({ path: '/manifest/range', headers: {}, signal }));
      this.#manifest = readManifest(await textOf(answer));
      this.#readAtMs = clock.monotonicMs();
      meters.cold_manifest_reads_total.add(1, { outcome: 'read' });
      meters.cold_manifest_read_timestamp_seconds.set(clock.nowMs() / 1000, {});
      const { newestNs } = this.#manifest;
      if (newestNs !== undefined)
        meters.cold_newest_timestamp_seconds.set(Number(newestNs / 1_000_000n) / 1000, {});
      if (this.#hasFailed) log.info('the manifest of the cold backend is readable again');
      this.#hasFailed = false;
    } catch (error) {
      if (this.#stopped.signal.aborted) return;
      meters.cold_manifest_reads_total.add(1, { outcome: 'failed' });
      const inUse =
        this.#manifest === undefined
          ? 'only the boundary decides which backend is read'
          : 'the last manifest stays in use';
      if (!this.#hasFailed) log.warn(`cannot read the manifest of the cold backend: ${inUse}`, { error });
      this.#hasFailed = true;
    }
  }
}

/** Maximum size of a manifest, which usually has a few hundred bytes. */
const maxBytes = 64 * 1024;

async function textOf(answer: BackendAnswer): Promise<string> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of answer.chunks()) {
    size += part.length;
    if (size > maxBytes) throw new Error(`the manifest is larger than ${maxBytes} bytes`);
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
}

/**
 * Reads `{"minTime":<ns>,"maxTime":<ns>,"totalFiles":<count>,..}`.
 * @throws Error for anything else
 */
export function readManifest(text: string): Manifest {
  const body: unknown = JSON.parse(text);
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw new Error('the manifest is not an object');
  const fields = new Map<string, unknown>(Object.entries(body));
  const files = wholeNumber('totalFiles', fields);
  if (files === 0n) return { newestNs: undefined };
  const [oldestNs, newestNs] = [wholeNumber('minTime', fields), wholeNumber('maxTime', fields)];
  if (newestNs < firstNs || newestNs > lastNs || oldestNs > newestNs)
    throw new Error(`the manifest has rows from ${oldestNs} to ${newestNs} ns`);
  return { newestNs };
}

/** Valid range of times; others have the wrong unit or are not times. */
const [firstNs, lastNs] = [10n ** 17n, 2n ** 63n - 1n];

function wholeNumber(name: string, fields: ReadonlyMap<string, unknown>): bigint {
  const value = fields.get(name);
  if (typeof value !== 'number' || !Number.isInteger(value) || value < 0)
    throw new Error(`${name} of the manifest is ${String(value).slice(0, 100)}, not an integer`);
  return BigInt(value);
}
