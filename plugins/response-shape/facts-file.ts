import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { KeptSnapshot } from '../../core/base/files/kept-snapshot.js';
import type { SnapshotFile } from '../../core/base/files/snapshot-file.js';
import type { SnapshotSource } from '../../core/base/files/snapshot-keeper.js';
import type { OtherMembers } from '../../core/base/files/snapshot-json.js';
import { Pacer } from '../../core/base/pace/pacer.js';
import { snapshotTurns } from '../../core/cache/snapshot-turns.js';
import type { Facts } from '../../core/engine/facts.js';
import type { engineMetrics } from '../../core/engine/metrics.js';
import { packageRoot } from '../../core/kernel/options/index.js';
import type { Host } from '../../core/plugin/index.js';

type FactsHost = Pick<Host<typeof engineMetrics>, 'clock' | 'log' | 'meters' | 'shared' | 'setup'>;

const format = { version: 1, member: 'facts_by_key', depth: 1 } as const;
const intervalMs = 60_000;

/** The file of what the engine has found in stretches of time: read when the process starts, written from then on. */
export class FactsFile {
  readonly #path: string;
  readonly #facts: Facts;
  readonly #host: FactsHost;
  readonly #kept: KeptSnapshot;
  /** Another one may find something else in the same rows. */
  readonly #release = releaseOf();
  #salted: (() => void) | undefined;

  constructor(path: string, facts: Facts, host: FactsHost) {
    const { clock, log, meters } = host;
    this.#path = path;
    this.#facts = facts;
    this.#host = host;
    const source: SnapshotSource = {
      revision: () => facts.revision(),
      entries: () => facts.entries(),
      others: () => this.#others(),
    };
    this.#kept = new KeptSnapshot({
      ...{ flag: '-facts-persist-path', path, format, clock, log, source, intervalMs },
      observer: {
        wrote: (bytes) => {
          meters.learned_snapshots_total.add(1, { outcome: 'written' });
          meters.learned_snapshot_bytes.set(bytes, {});
        },
        failed: () => meters.learned_snapshots_total.add(1, { outcome: 'failed' }),
      },
      restore: (file, signal) => this.#restore(file, signal),
    });
  }

  /**
   * Restores in the background, but for the salt of the checksums: what is learned from then on has the same.
   * @throws Error naming the option when the file cannot be written
   */
  async start(): Promise<void> {
    const salted = new Promise<void>((resolve) => (this.#salted = resolve));
    await this.#kept.start(snapshotTurns(this.#path, this.#host));
    await salted;
  }

  /** Drops facts that must not come back from the file either, of one tenant where its id is given. */
  forget(tenantId?: string): Promise<void> {
    return this.#kept.forget(() => this.#facts.purge(tenantId));
  }

  stop(): Promise<void> {
    return this.#kept.stop();
  }

  /** Whether the file holds what is known. */
  async #restore(file: SnapshotFile, signal: AbortSignal): Promise<boolean> {
    try {
      return await this.#restoreFile(file, signal);
    } finally {
      this.#salted?.();
    }
  }

  async #restoreFile(file: SnapshotFile, signal: AbortSignal): Promise<boolean> {
    const others = new Map<string, unknown>();
    const staged = this.#facts.stage();
    let isOurs: boolean | undefined;
    const begin = (): void => {
      // The members beside the entries stand before them.
      isOurs ??= this.#isOurs(others);
      if (isOurs) this.#facts.takeSalt(others.get('salt'));
      this.#salted?.();
    };
    const add = (names: readonly string[], value: unknown): void => {
      if (isOurs === undefined) begin();
      if (isOurs === true) staged.add(names, value);
    };
    const read = await file.read(add, signal, { others });
    if (read === undefined) return this.#facts.size === 0;
    const taken = await this.#facts.take(staged, new Pacer(signal));
    this.#host.meters.learned_restored_total.add(taken, { source: 'disk' });
    this.#host.log.info('facts restored', {
      'file.path': this.#path,
      'file.size': read.bytes,
      'facts.entries': taken,
    });
    return taken === this.#facts.size;
  }

  /** What facts depend on beside their keys and the rows. */
  #others(): OtherMembers {
    return { ...this.#facts.others(), setup: this.#host.setup, release: this.#release };
  }

  #isOurs(others: ReadonlyMap<string, unknown>): boolean {
    const own = this.#others();
    return others.get('setup') === own['setup'] && others.get('release') === own['release'];
  }
}

function releaseOf(): string {
  const { version } = JSON.parse(readFileSync(join(packageRoot(), 'package.json'), 'utf8')) as {
    readonly version: string;
  };
  return version;
}
