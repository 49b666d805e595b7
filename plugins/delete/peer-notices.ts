import { fleetOf } from '../../core/cache/fleet.js';
import type { Host } from '../../core/plugin/index.js';
import type { deleteMetrics } from './metrics.js';
import type { DeletionNotice } from './notices.js';

/** Time for which notifications are repeated to peers that did not receive them. */
const tellAgainMs = 3_600_000;

/** Notifies peers of deletions until all of them have been reached. */
export class PeerNotices {
  readonly #host: Host<typeof deleteMetrics>;
  /** Notices by id that have not reached all peers. */
  readonly #unheard = new Map<string, { readonly news: DeletionNotice; readonly untilMs: number }>();

  constructor(host: Host<typeof deleteMetrics>) {
    this.#host = host;
  }

  /** True if all peers have received everything. */
  get haveHeard(): boolean {
    return this.#unheard.size === 0;
  }

  /** Sends a notice; returns true if all peers have received it. For the others, `tellAgain` repeats it. */
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
        this.#host.log.error('cannot notify peers of a deletion: their caches may show the deleted logs', {
          'deletion.id': id,
        });
      }
    }
  }
}
