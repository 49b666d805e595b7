import type { Address } from './address.js';
import { Peer, type PeerHouse } from './peer.js';
import { Ring } from './ring.js';

/** A member as it was discovered. */
export interface Found {
  readonly address: Address;
  /** Availability zone, where discovery tells it. */
  readonly zone?: string;
}

/** Who has to do with a key. */
export interface Place {
  /** The member that the key belongs to; undefined for this process. */
  readonly home: Peer | undefined;
  /** Whom to ask for it. */
  readonly ask: Peer | undefined;
}

interface Fleet {
  readonly ring: Ring;
  readonly peers: ReadonlyMap<string, Peer>;
}

/** The members of the fleet. Those that do not answer own nothing meanwhile: what they own belongs to the next ones. */
export class Members {
  readonly self: Address;
  readonly #house: PeerHouse;
  readonly #resized: (peers: number) => void;
  #fleet: Fleet;

  constructor(self: Address, house: PeerHouse, resized: (peers: number) => void) {
    this.self = self;
    this.#house = house;
    this.#resized = resized;
    this.#fleet = { ring: new Ring([self.text]), peers: new Map() };
  }

  get peers(): readonly Peer[] {
    return [...this.#fleet.peers.values()];
  }

  /** From now on these are the members, and this process. */
  update(found: readonly Found[]): void {
    const peers = new Map<string, Peer>();
    for (const { address } of found) {
      if (address.text === this.self.text) continue;
      peers.set(address.text, this.#fleet.peers.get(address.text) ?? new Peer(address, this.#house));
    }
    this.#fleet = { ring: new Ring([this.self.text, ...peers.keys()]), peers };
    this.#resized(peers.size);
  }

  placeOf(key: string): Place {
    const { ring, peers } = this.#fleet;
    let isHome = false;
    for (const text of ring.ownersOf(key)) {
      const peer = peers.get(text);
      if (peer === undefined) isHome = true;
      // Where this process is the home, the next one was before it came.
      else if (peer.isUp) return { home: isHome ? undefined : peer, ask: peer };
    }
    return { home: undefined, ask: undefined };
  }

  /** Whether an IP address is one of a member. */
  has(ip: string): boolean {
    return this.peers.some(({ address }) => address.host === ip);
  }
}
