import { fleetOf } from '../../core/cache/fleet.js';
import type { Host } from '../../core/plugin/index.js';
import type { deleteMetrics } from './metrics.js';
import type { DeletionNotice } from './notices.js';

/** The time for which peers that did not receive a deletion are notified again. */
const tellAgainMs = 3_600_000;

/** Tells peers of deletions until all have heard. */
export class PeerNotices {
  readonly #host: Host<typeof deleteMetrics>;
  /** By id, news that not all peers have heard. */
  readonly #unheard = new Map<string, { readonly news: DeletionNotice; readonly untilMs: number }>();

  constructor(host: Host<typeof deleteMetrics>) {
    this.#host = host;
  }

  /** True when all peers have heard of everything. */
  get haveHeard(): boolean {
    return this.#unheard.size === 0;
  }

  /** Returns true when all have received this; the others are notified again by `tellAgain`. */
  async tell(news: DeletionNotice): Promise<boolean> {
    const { id } = news.deletion;
    const report = await fleetOf(this.#host).purgeOthers(undefined, JSON.stringify(news));
    const isHeard = [...(report?.values() ?? [])].every((outcome) => outcome === 'purged');
    if (isHeard) this.#unheard.delete(id);
    else {
      const untilMs = this.#host.clock.nowMs() + tellAgainMs;
      this.#unheard.set(id, { news, untilMs: this.#unheard.get(id)?.untilMs ?? untilMs });
    }
    return isHeard;
  }

  async tellAgain(): Promise<void> {
    for (const [id, { news, untilMs }] of this.#unheard) {
      if (this.#host.clock.nowMs() < untilMs) await this.tell(news);
      else {
        this.#unheard.delete(id);
        this.#host.log.error('peers have not heard of a deletion: their caches may show what it deleted', {
          'deletion.id': id,
        });
      }
    }
  }
}
