import { Claims } from '../base/claims.js';
import type { SnapshotKeeper, SnapshotTurns } from '../base/files/snapshot-keeper.js';
import type { Host } from '../kernel/plugin/host.js';

/** Whose turn it is to write a snapshot file: after a reload two instances of a plugin may have the same one for a while. */
export function snapshotTurns(path: string, host: Pick<Host, 'shared'>): SnapshotTurns {
  return host.shared(`snapshot file ${path}`, () => new Claims<SnapshotKeeper>());
}
