import { createHash } from 'node:crypto';

/** Points of each member: with fewer, some members would own far more keys than others. */
const pointsOfEach = 150;

interface Point {
  readonly hash: number;
  readonly member: string;
}

/**
 * Says which member of a fleet owns a key: consistent hashing, so that a member that comes or goes moves only its own share of the keys. All
 * members make the same ring of the same addresses. It never changes; for other members there is another one.
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
      // Equal hashes are rare, but must not depend on the order in which members were found.
      .sort((a, b) => a.hash - b.hash || (a.member < b.member ? -1 : 1));
  }

  /** The owner of a key, then the members that would own it if those before them were gone. */
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
