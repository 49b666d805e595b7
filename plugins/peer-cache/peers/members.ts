import type { Address } from './client.js';
import { Peer, type PeerHouse } from './peer.js';
import { createHash } from 'node:crypto';

/** A member as it was discovered. */
export interface Found {
  readonly address: Address;
  /** Availability zone, if discovery provides it. */
  readonly zone?: string;
}

/** The replicas responsible for a key. */
export interface Responsible {
  /** The owner of the key; undefined if it is this process. */
  readonly home: Peer | undefined;
  /** Peers to ask for the key, at most two; a peer in this process's zone comes first. */
  readonly ask: readonly Peer[];
}

interface Fleet {
  readonly ring: Ring;
  readonly peers: ReadonlyMap<string, Peer>;
  /** Zone by member, where it is known. */
  readonly zones: ReadonlyMap<string, string>;
  /** IP addresses from which members may call. */
  readonly ips: ReadonlySet<string>;
}

/** The members of the fleet. The keys of a member that does not answer belong to the next ones meanwhile. */
export class Members {
  readonly self: Address;
  readonly #zone: string;
  readonly #house: PeerHouse;
  readonly #resized: ((peers: number) => void) | undefined;
  #fleet: Fleet;

  /** @param zone availability zone of this process; empty for none */
  constructor(self: Address, zone: string, house: PeerHouse, resized?: (peers: number) => void) {
    this.self = self;
    this.#zone = zone;
    this.#house = house;
    this.#resized = resized;
    this.#fleet = { ring: new Ring([self.text]), peers: new Map(), zones: new Map(), ips: new Set() };
  }

  get peers(): readonly Peer[] {
    return [...this.#fleet.peers.values()];
  }

  /** Replaces the list of members; this process is always one. */
  update(found: readonly Found[], ips: Iterable<string>): void {
    const peers = new Map<string, Peer>();
    const zones = new Map<string, string>();
    for (const { address, zone } of found) {
      if (address.text === this.self.text) continue;
      peers.set(address.text, this.#fleet.peers.get(address.text) ?? new Peer(address, this.#house));
      if (zone !== undefined) zones.set(address.text, zone);
    }
    const isSame =
      peers.size === this.#fleet.peers.size && [...peers.keys()].every((text) => this.#fleet.peers.has(text));
    const ring = isSame ? this.#fleet.ring : new Ring([this.self.text, ...peers.keys()]);
    this.#fleet = { ring, peers, zones, ips: new Set(ips) };
    this.#resized?.(peers.size);
  }

  placeOf(key: string): Responsible {
    const { ring, peers, zones } = this.#fleet;
    // If this process is the owner, the next member on the ring is asked, because it owned the key before this process joined.
    let owner: 'nobody' | 'self' | 'peer' = 'nobody';
    let near: Peer | undefined;
    let first: Peer | undefined;
    for (const text of ring.ownersOf(key)) {
      const peer = peers.get(text);
      if (peer === undefined) {
        // In its own zone this process comes first.
        if (owner === 'peer' && this.#zone !== '') break;
        if (owner === 'nobody') owner = 'self';
      } else if (peer.isUp) {
        if (owner === 'nobody') owner = 'peer';
        first ??= peer;
        if (zones.get(text) === this.#zone) near = peer;
        if (near !== undefined || this.#zone === '') break;
      }
    }
    const ask = [...new Set([near, first])].filter((peer) => peer !== undefined);
    return { home: owner === 'peer' ? first : undefined, ask };
  }

  /** Tells whether an IP address belongs to a member. */
  has(ip: string): boolean {
    return this.#fleet.ips.has(ip);
  }
}

/** Points per member on the ring: with fewer, some members would own far more keys than others. */
const pointsOfEach = 150;

interface Point {
  readonly hash: number;
  readonly member: string;
}

/**
 * Maps keys to their owners by consistent hashing, so that a member that joins or leaves moves only its own share of the keys. All members
 * compute the same ring from the same addresses. A ring is immutable.
 */
export class Ring {
  readonly members: readonly string[];
  readonly #points: readonly Point[];

  constructor(members: Iterable<string>) {
    this.members = [...new Set(members)].sort();
    this.#points = this.members
      .flatMap((member) =>
        Array.from({ length: pointsOfEach }, (_, place) => ({ hash: hashOf(`${member}#${place}`), member })),
      )
      // Equal hashes are rare, but their order must not depend on the order of discovery.
      .sort((a, b) => a.hash - b.hash || (a.member < b.member ? -1 : 1));
  }

  /** The owner of a key, then the members that would own it if the ones before were gone. */
  *ownersOf(key: string): Generator<string, void> {
    const seen = new Set<string>();
    const first = this.#firstFrom(hashOf(key));
    for (let step = 0; seen.size < this.members.length; step += 1) {
      const point = this.#points[(first + step) % this.#points.length];
      if (point === undefined || seen.has(point.member)) continue;
      seen.add(point.member);
      yield point.member;
    }
  }

  #firstFrom(hash: number): number {
    let [low, high] = [0, this.#points.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#points[middle]?.hash ?? 0) < hash) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** The first four bytes of SHA-256, big endian. */
function hashOf(text: string): number {
  return createHash('sha256').update(text).digest().readUInt32BE(0);
}
