import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import type { Logger } from '../../../core/base/logger.js';
import type { Meters } from '../../../core/plugin/index.js';
import type { Discovery } from './discovery.js';
import type { Found, Members } from './members.js';
import type { peerMetrics } from './metrics.js';

export interface WatchSettings {
  readonly discovery: Discovery;
  readonly members: Members;
  readonly everyMs: number;
  /** Whether the addresses of members must be known, to tell who calls. */
  readonly needsIps: boolean;
  readonly log: Logger;
  readonly meters: Meters<typeof peerMetrics>;
}

const timeoutMs = 5_000;
const maxMembers = 1_000;

/** Looks again and again who the members are. While that cannot be found out, they are those that were found last. */
export class Watch {
  readonly #settings: WatchSettings;
  #timer: NodeJS.Timeout | undefined;
  #shown = '';
  #isFailing = false;
  #isStopped = false;

  constructor(settings: WatchSettings) {
    this.#settings = settings;
  }

  /** Waits for the first look, which may find nobody. */
  async start(): Promise<void> {
    await this.#look();
    this.#wait();
  }

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
  }

  #wait(): void {
    const { discovery, everyMs } = this.#settings;
    if (this.#isStopped || (discovery.isFixed === true && !this.#isFailing)) return;
    this.#timer = setTimeout(() => void this.#look().then(() => this.#wait()), everyMs).unref();
  }

  async #look(): Promise<void> {
    const { discovery, members, log, meters, needsIps } = this.#settings;
    try {
      const found = await within(discovery.find());
      if (found.length === 0) throw new Error('no members were found');
      if (found.length > maxMembers) throw new Error(`more than ${maxMembers} members were found`);
      const ips = needsIps ? await ipsOf(found) : [];
      if (this.#isStopped) return;
      members.update(found, ips);
      if (this.#isFailing) log.info('members of the fleet are found again');
      this.#isFailing = false;
      this.#tell(found);
    } catch (error) {
      meters.peer_cache_discovery_errors_total.add(1, {});
      if (!this.#isFailing)
        log.warn('members of the fleet cannot be found, the last ones stay', {
          peers: members.peers.length,
          'error.message': error instanceof Error ? error.message : String(error),
        });
      this.#isFailing = true;
    }
  }

  #tell(found: readonly Found[]): void {
    const { log, members } = this.#settings;
    const shown = members.peers.map(({ address }) => address.text).sort();
    if (shown.join() === this.#shown) return;
    this.#shown = shown.join();
    log.info('members of the fleet', { self: members.self.text, peers: shown });
    // Known by another name it would ask itself.
    if (!found.some(({ address }) => address.text === members.self.text))
      log.warn(
        'this process is not among the members that were found: is -peer-self the address by which it is found?',
        {
          self: members.self.text,
        },
      );
  }
}

async function ipsOf(found: readonly Found[]): Promise<readonly string[]> {
  const hosts = found.flatMap(({ address: { host } }) => host ?? []);
  const all = await Promise.all(
    hosts.map(async (host) =>
      isIP(host) > 0 ? [host] : (await within(lookup(host, { all: true }))).map(({ address }) => address),
    ),
  );
  return all.flat();
}

async function within<Value>(work: Promise<Value>): Promise<Value> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`not found within ${timeoutMs} ms`)), timeoutMs);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
