import { KeptSnapshot, type KeptSnapshotSettings, snapshotTurns } from '../base/files/kept-snapshot.js';
import { snapshotBytes } from '../base/files/snapshot-bytes.js';
import type { WrittenEntry } from '../base/files/snapshot-json.js';
import type { Host } from '../kernel/plugin/host.js';
import { type Asking, fleetOf, largestSnapshot } from './fleet.js';

export interface KeptDataSettings extends Omit<KeptSnapshotSettings, 'clock' | 'log'> {
  /** The name under which replicas request each other's data. */
  readonly offerName: string;
  /** The entries for other replicas, those that they need most first. */
  readonly latest: () => Iterable<WrittenEntry>;
  /** Drops all entries, or those of one tenant. */
  readonly purge: (tenantId?: string) => void;
}

export type KeptHost = Pick<Host, 'clock' | 'log' | 'shared' | 'onStop'>;

/** Data that a plugin keeps in a file over a restart, unless the path is empty, and that other replicas may request. */
export class KeptData {
  /** Undefined without a path. */
  readonly file: KeptSnapshot | undefined;
  readonly #settings: KeptDataSettings;
  readonly #host: KeptHost;

  constructor(settings: KeptDataSettings, host: KeptHost) {
    const { path, format, offerName, latest, source } = settings;
    const { clock, log } = host;
    this.#settings = settings;
    this.#host = host;
    this.file = path === '' ? undefined : new KeptSnapshot({ ...settings, clock, log });
    host.onStop(
      fleetOf(host).offer(offerName, () => {
        const others = source.others?.() ?? {};
        return snapshotBytes(
          format,
          { savedAtMs: clock.nowMs(), largest: largestSnapshot, others },
          latest(),
        );
      }),
    );
  }

  /** True while the file is being restored. */
  get isWarming(): boolean {
    return this.file?.isWarming === true;
  }

  /**
   * Starts the restore in the background.
   * @throws Error naming the option when the file cannot be written
   */
  async start(): Promise<void> {
    await this.file?.start(snapshotTurns(this.#settings.path, this.#host));
  }

  /** Drops entries, also from the file and from what other replicas get, so that they do not come back. */
  async purge(tenantId?: string): Promise<void> {
    const { offerName, purge } = this.#settings;
    fleetOf(this.#host).withdraw(offerName);
    purge(tenantId);
    await this.file?.forget(() => purge(tenantId));
  }

  /** Writes pending changes and stops. After an unfinished restore the file stays as it is. */
  async stop(): Promise<void> {
    await this.file?.stop();
  }

  /** Requests the data of other replicas. */
  ask(asking: Omit<Asking, 'name'>): Promise<void> {
    return fleetOf(this.#host).ask({ name: this.#settings.offerName, ...asking });
  }
}
