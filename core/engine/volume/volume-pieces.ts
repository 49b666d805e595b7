import { ofKey } from '../../base/memory/byte-lru.js';
import type { LabelSet } from '../../base/label-set.js';
import type { VolumePiece } from './volume-buckets.js';

/** A piece of one backend stream as the backend counts it, with fractions of bytes. Several backend streams may be one Loki stream. */
export interface CountedPiece extends VolumePiece {
  /** Bytes that count once, however many backend streams the stream consists of. */
  readonly sharedBytes: number;
}

/** Minimum size of a piece; smaller ones are joined, since Loki has few chunks for a quiet stream. */
const minPieceBytes = 16 * 1024;

interface OpenStream {
  readonly labels: LabelSet;
  readonly byCell: Map<bigint, CountedPiece>;
  /** Bytes of the pieces drained so far: exact bytes, rounded bytes as yielded, and shared bytes. */
  exact: number;
  given: number;
  shared: number;
}

/**
 * Collects counted pieces by stream and time cell, and yields the pieces that volumes consist of. The bytes of a stream are rounded as a
 * whole: its pieces add up to the same number, however they were counted.
 */
export class VolumePieces {
  readonly #streams = new Map<string, OpenStream>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  add(labels: LabelSet, cell: bigint, piece: CountedPiece): void {
    const open = (): OpenStream => ({ labels, byCell: new Map(), exact: 0, given: 0, shared: 0 });
    const stream = ofKey(this.#streams, labels.key, open);
    const known = stream.byCell.get(cell);
    if (known === undefined) this.#size += 1;
    stream.byCell.set(cell, known === undefined ? piece : joined(known, piece));
  }

  /** Yields the collected pieces and forgets them. */
  *drain(): Generator<readonly [labels: LabelSet, piece: VolumePiece]> {
    for (const stream of this.#streams.values()) {
      const pieces = [...stream.byCell.values()].sort((a, b) => (a.firstNs < b.firstNs ? -1 : 1));
      for (const piece of bigEnough(pieces))
        yield [stream.labels, { ...piece, bytes: wholeBytes(stream, piece) }];
      stream.byCell.clear();
    }
    this.#size = 0;
  }
}

function wholeBytes(stream: OpenStream, { bytes, sharedBytes }: CountedPiece): number {
  const shared = Math.max(stream.shared, sharedBytes);
  stream.exact += bytes + shared - stream.shared;
  stream.shared = shared;
  const whole = Math.round(stream.exact) - stream.given;
  stream.given += whole;
  return whole;
}

/** Joins adjacent pieces until each is large enough; a small remainder is joined to the previous one. */
function bigEnough(pieces: readonly CountedPiece[]): readonly CountedPiece[] {
  const done: CountedPiece[] = [];
  let open: CountedPiece | undefined;
  for (const piece of pieces) {
    open = open === undefined ? piece : joined(open, piece);
    if (open.bytes < minPieceBytes) continue;
    done.push(open);
    open = undefined;
  }
  if (open === undefined) return done;
  const last = done.pop();
  return [...done, last === undefined ? open : joined(last, open)];
}

function joined(a: CountedPiece, b: CountedPiece): CountedPiece {
  return {
    firstNs: a.firstNs < b.firstNs ? a.firstNs : b.firstNs,
    lastNs: a.lastNs > b.lastNs ? a.lastNs : b.lastNs,
    entries: a.entries + b.entries,
    bytes: a.bytes + b.bytes,
    sharedBytes: Math.max(a.sharedBytes, b.sharedBytes),
  };
}
