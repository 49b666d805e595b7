import { doAll } from '../../base/pace/steps.js';
import { mergedLabelsSteps } from '../../wire/answer/encode-streams.js';
import type { LabelSet } from '../../base/label-set.js';
import type { LiveEntry } from '../../wire/answer/types.js';

/** An entry that was dropped for a slow client. */
export interface DroppedEntry {
  readonly timestampNs: bigint;
  readonly labels: LabelSet;
}

/** Writes the frames of one tail: every entry is a separate stream (docs/protocol/requests.md#tail). */
export class FrameWriter {
  readonly #categorizes: boolean;

  /** @param categorizes true for 3-tuples with separate label groups, false for 2-tuples with all labels on the stream */
  constructor(categorizes: boolean) {
    this.#categorizes = categorizes;
  }

  frame(entries: readonly LiveEntry[], dropped: readonly DroppedEntry[]): string {
    const streams = entries.map((entry) => this.#stream(entry)).join(',');
    const flags = this.#categorizes ? ',"encodingFlags":["categorize-labels"]' : '';
    const lost = dropped.length === 0 ? '' : `,"dropped_entries":[${dropped.map(droppedText).join(',')}]`;
    return `{"streams":[${streams}]${flags}${lost}}`;
  }

  #stream({ labels, entry }: LiveEntry): string {
    const { timestampNs, line, structuredMetadata, parsed } = entry;
    const start = `["${timestampNs}",${JSON.stringify(line)}`;
    if (!this.#categorizes) {
      const merged = doAll(mergedLabelsSteps(labels, structuredMetadata, parsed));
      return `{"stream":${merged},"values":[${start}]]}`;
    }
    const groups: string[] = [];
    if (structuredMetadata.size > 0) groups.push(`"structuredMetadata":${structuredMetadata.json}`);
    if (parsed.size > 0) groups.push(`"parsed":${parsed.json}`);
    return `{"stream":${labels.json},"values":[${start},{${groups.join(',')}}]]}`;
  }
}

function droppedText({ timestampNs, labels }: DroppedEntry): string {
  return `{"timestamp":"${timestampNs}","labels":${labels.json}}`;
}
