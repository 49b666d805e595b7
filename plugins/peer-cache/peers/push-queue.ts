import type { Clock } from '../../../core/base/clock.js';
import type { Meters } from '../../../core/plugin/index.js';
import type { peerMetrics } from './metrics.js';
import type { Peer } from './peer.js';

interface Push {
  readonly key: string;
  readonly packed: Buffer;
  readonly madeMs: number;
  readonly ttlMs: number;
  readonly to: () => Peer | undefined;
}

const maxEntries = 1_000;
const maxBytes = 32 * 1024 * 1024;
const atOnce = 4;

/** Values on their way to the replicas that own them, in the background and bounded. */
export class PushQueue {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #meters: Meters<typeof peerMetrics>;
  /** In order of arrival. */
  readonly #waiting = new Map<string, Push>();
  #bytes = 0;
  #running = 0;

  constructor(clock: Pick<Clock, 'monotonicMs'>, meters: Meters<typeof peerMetrics>) {
    this.#clock = clock;
    this.#meters = meters;
  }

  /** Whether there is room for such a value; that there is none is counted. */
  hasRoom(bytes: number): boolean {
    const reason =
      this.#waiting.size >= maxEntries ? 'entries' : this.#bytes + bytes > maxBytes ? 'bytes' : undefined;
    if (reason === undefined) return true;
    this.#meters.peer_cache_write_through_drops_total.add(1, { reason });
    return false;
  }

  /** @param to asked when it is sent: members come and go */
  add(key: string, packed: Buffer, ttlMs: number, to: () => Peer | undefined): void {
    this.#remove(key);
    this.#waiting.set(key, { key, packed, ttlMs, madeMs: this.#clock.monotonicMs(), to });
    this.#hold(packed.byteLength);
    this.#next();
  }

  /** Forgets what waits under keys with this beginning. */
  clear(prefix = ''): void {
    for (const key of [...this.#waiting.keys()]) if (key.startsWith(prefix)) this.#remove(key);
  }

  #next(): void {
    while (this.#running < atOnce) {
      const [first] = this.#waiting.values();
      if (first === undefined) return;
      this.#waiting.delete(first.key);
      this.#running += 1;
      void this.#send(first).finally(() => {
        this.#running -= 1;
        this.#hold(-first.packed.byteLength);
        this.#next();
      });
    }
  }

  async #send({ key, packed, madeMs, ttlMs, to }: Push): Promise<void> {
    const ageMs = this.#clock.monotonicMs() - madeMs;
    const peer = to();
    if (peer === undefined || ttlMs - ageMs <= 0) return;
    const isTaken = await peer.set(key, { packed, ageMs, leftMs: ttlMs - ageMs });
    const { peer_cache_write_through_pushes_total: pushes, peer_cache_write_through_errors_total: errors } =
      this.#meters;
    (isTaken ? pushes : errors).add(1, {});
  }

  #remove(key: string): void {
    const push = this.#waiting.get(key);
    if (push === undefined) return;
    this.#waiting.delete(key);
    this.#hold(-push.packed.byteLength);
  }

  #hold(bytes: number): void {
    this.#bytes += bytes;
    this.#meters.peer_cache_write_through_waiting_bytes.set(this.#bytes, {});
  }
}
