import type { PeerCacheOptions } from '../../../core/base/options.gen.js';
import type { Host } from '../../../core/plugin/index.js';
import { PeerClient } from './client.js';
import { Encodings } from '../../../core/base/encoding.js';
import { tokenHeader } from './gate.js';
import type { peerMetrics } from './metrics.js';
import type { PeerHouse } from './peer.js';

/** @param token undefined where callers are admitted by their address */
export function createHouse(
  options: Pick<PeerCacheOptions, 'peerTimeout' | 'peerPatience'>,
  { clock, log, meters }: Host<typeof peerMetrics>,
  token: string | undefined,
): PeerHouse {
  return {
    client: new PeerClient(token === undefined ? {} : { [tokenHeader]: token }),
    encodings: new Encodings(),
    token: token ?? '',
    timeoutMs: options.peerTimeout,
    patienceMs: options.peerPatience,
    clock,
    log,
    meters,
  };
}
