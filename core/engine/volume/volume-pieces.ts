import type { LabelSet } from '../../base/labels/label-set.js';
import type { VolumePiece } from './volume-buckets.js';

/** A piece as the backend counts it, of one backend stream; several backend streams may be one Loki stream. */
export interface CountedPiece extends VolumePiece {
  /** Bytes that count once, however many backend streams make up the stream. */
  readonly sharedBytes: number;
}

/** Smaller pieces of a stream are joined: rounding each to KiB would be too inaccurate. */
const minPieceBytes = 16 * 1024;

interface OpenStream {
  readonly labels: LabelSet;
  readonly byCell: Map<bigint, CountedPiece>;
}

/** Collects counted pieces by stream and time cell, and yields the pieces that volumes are made of. */
export class VolumePieces {
  readonly #streams = new Map<string, OpenStream>();
  #size = 0;

  /** The number of collected pieces. */
  get size(): number {
    return this.#size;
  }

  add(labels: LabelSet, cell: bigint, piece: CountedPiece): void {
    let stream = this.#streams.get(labels.key);
    if (stream === undefined) this.#streams.set(labels.key, (stream = { labels, byCell: new Map() }));
    const known = stream.byCell.get(cell);
    if (known === undefined) this.#size += 1;
    stream.byCell.set(cell, known === undefined ? piece : joined(known, piece));
  }

  /** Yields the collected pieces and resets. */
  *drain(): Generator<readonly [labels: LabelSet, piece: VolumePiece]> {
    for (const { labels, byCell } of this.#streams.values()) {
      const pieces = [...byCell.values()].sort((a, b) => (a.firstNs < b.firstNs ? -1 : 1));
      for (const piece of bigEnough(pieces))
        yield [labels, { ...piece, bytes: piece.bytes + piece.sharedBytes }];
    }
    this.#streams.clear();
    this.#size = 0;
  }
}

/** Joins adjacent pieces until each is large enough; a small remainder is joined to the one before it. */
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
