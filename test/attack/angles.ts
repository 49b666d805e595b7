import { attackPeers } from './peers.js';
import type { AttackReport, AttackSettings } from './tally.js';
import { attackByBrowser } from './browser.js';
import { attackCaches } from './caches.js';
import { attackLanes } from './lanes.js';
import { attackTenants } from './tenants.js';

/** A kind of attack. */
export interface Angle {
  readonly name: string;
  /** The number of runs that take a few minutes. */
  readonly usualRuns: number;
  readonly attack: (settings: AttackSettings) => Promise<AttackReport>;
}

export const angles: readonly Angle[] = [
  { name: 'tenants', usualRuns: 10_000, attack: attackTenants },
  { name: 'lanes', usualRuns: 3_000, attack: attackLanes },
  { name: 'caches', usualRuns: 100, attack: attackCaches },
  { name: 'peers', usualRuns: 2_000, attack: attackPeers },
  { name: 'browser', usualRuns: 1, attack: attackByBrowser },
];
