import type { Host } from '../../core/plugin/index.js';
import type { ColdContents } from '../../core/victoria/stores/split.js';
import type { BackendAnswer, BackendClient } from '../../core/victoria/upstream/client.js';
import { probeCall } from '../../core/victoria/upstream/probe.js';
import type { coldMetrics } from './metrics.js';
import { startTimer, timeoutSignal } from '../../core/base/time/waits.js';

/** Response of `GET /manifest/range`. */
interface Manifest {
  /** The time of the newest row; undefined if there are no files. */
  readonly newestNs: bigint | undefined;
}

/** Number of intervals after which a manifest counts as old. */
const oldAfter = 2;

/** Reads the contents of the cold backend periodically. If reading fails, the last known contents are used. */
export function manifestReader(
  client: BackendClient,
  { clock, log, meters }: Host<typeof coldMetrics>,
  everyMs: number,
  timeoutMs: number,
) {
  const stopped = new AbortController();
  let manifest: Manifest | undefined;
  let readAtMs = 0;
  let hasFailed = false;
  let timer: NodeJS.Timeout | undefined;

  function next(): void {
    if (stopped.signal.aborted) return;
    timer = startTimer(() => void look(stopped.signal).then(next), everyMs).unref();
  }

  async function look(ends: AbortSignal): Promise<void> {
    try {
      const signal = AbortSignal.any([ends, timeoutSignal(timeoutMs)]);
      const answer = await client.call(probeCall({ path: '/manifest/range', headers: {}, signal }));
      manifest = readManifest(await textOf(answer));
      readAtMs = clock.monotonicMs();
      meters.cold_manifest_reads_total.add(1, { outcome: 'read' });
      meters.cold_manifest_read_timestamp_seconds.set(clock.nowMs() / 1000, {});
      const { newestNs } = manifest;
      if (newestNs !== undefined)
        meters.cold_newest_timestamp_seconds.set(Number(newestNs / 1_000_000n) / 1000, {});
      if (hasFailed) log.info('the manifest of the cold backend is readable again');
      hasFailed = false;
    } catch (error) {
      if (stopped.signal.aborted) return;
      meters.cold_manifest_reads_total.add(1, { outcome: 'failed' });
      const inUse =
        manifest === undefined
          ? 'only the boundary decides which backend is read'
          : 'the last manifest stays in use';
      if (!hasFailed) log.warn(`cannot read the manifest of the cold backend: ${inUse}`, { error });
      hasFailed = true;
    }
  }

  return {
    /** The contents; undefined before the first successful read. */
    contents(): ColdContents | undefined {
      if (manifest === undefined) return undefined;
      return { ...manifest, isOld: clock.monotonicMs() - readAtMs > oldAfter * everyMs };
    },
    /** Reads the manifest now and after each interval. */
    async start(signal: AbortSignal): Promise<void> {
      await look(signal);
      next();
    },
    stop(): void {
      clearTimeout(timer);
      stopped.abort();
    },
  };
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
