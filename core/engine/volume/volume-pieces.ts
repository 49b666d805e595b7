import type { LabelSet } from '../../base/labels/label-set.js';
import type { VolumePiece } from './volume-buckets.js';

/** A piece as the backend counts it: of one of its streams, of which several may be one stream to a client. */
export interface CountedPiece extends VolumePiece {
  /** Bytes that are there once, however many backend streams the stream is made of. */
  readonly sharedBytes: number;
}

/** Smaller pieces of a stream are put together: rounded to KiB one by one they would be off by too much. */
const minPieceBytes = 16 * 1024;

interface OpenStream {
  readonly labels: LabelSet;
  readonly byCell: Map<bigint, CountedPiece>;
}

/** Gathers counted pieces by stream and cell of time, and gives the pieces that volumes are made of. */
export class VolumePieces {
  readonly #streams = new Map<string, OpenStream>();
  #size = 0;

  /** Pieces that are held. */
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

  /** Gives what is held, and forgets it. */
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

/** Joins neighbours until each is big enough; a rest that is not goes with the one before it. */
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
