import type { Direction } from '../api/request.js';
import { LabelSet } from '../labels/label-set.js';
import { printRfc3339, quoteGo } from '../time/index.js';
import { encodeStats } from './encode-stats.js';
import { inOrder } from './encode-streams.js';
import type { Answer, EncodedAnswer, Entry, StreamResult } from './types.js';

/** What the bytes of a legacy answer depend on besides the answer. */
export interface LegacyOptions {
  /** Labels of entries stay out of those of their stream. */
  readonly categorizeLabels: boolean;
  readonly direction: Direction;
}

const contentType = 'application/json; charset=UTF-8';
const noHeaders: ReadonlyMap<string, string> = new Map();

/**
 * The bytes of an answer to `/api/prom/query`, in the shape that the reference kept for it: `{"streams":[{"labels","entries":
 * [{"ts","line","parsed"}]}],"stats"}`. Structured metadata is only shown within the labels.
 */
export function encodeLegacyQuery(answer: Answer, options: LegacyOptions): EncodedAnswer {
  if (answer.kind === 'encoded') return answer;
  if (answer.kind !== 'streams')
    throw new Error(`${answer.kind} has no legacy shape: only logs are asked for`);
  const streams = options.categorizeLabels ? shownApart(answer.streams) : shownMerged(answer.streams);
  const isForward = options.direction === 'forward';
  const parts = ['{"streams":['];
  let before = '';
  for (const { labels, entries } of streams.sort((a, b) => (a.labels < b.labels ? -1 : 1))) {
    parts.push(before, '{"labels":', JSON.stringify(labels), ',"entries":[');
    addEntries(parts, inOrder(entries, isForward));
    parts.push(']}');
    before = ',';
  }
  parts.push('],"stats":', encodeStats(answer.stats));
  // The reference has no place for notices here; nobody who reads its shape minds one more member.
  if (answer.warnings.length > 0) parts.push(',"warnings":', JSON.stringify(answer.warnings));
  parts.push('}');
  return { kind: 'encoded', status: 200, contentType, headers: noHeaders, body: Buffer.from(parts.join('')) };
}

/** A stream as it is shown: the text `{name="value", ...}` of its labels, and its entries. */
interface Shown {
  readonly labels: string;
  readonly entries: readonly Entry[];
}

function shownApart(streams: readonly StreamResult[]): Shown[] {
  return streams.map(({ labels, entries }) => ({ labels: labelsText(labels), entries }));
}

/** All groups of labels of an entry name its stream: a stream may fall into several, and several may meet in one. */
function shownMerged(streams: readonly StreamResult[]): Shown[] {
  const merged = new Map<string, { readonly labels: string; readonly entries: Entry[] }>();
  for (const { labels, entries } of streams) {
    let text = labelsText(labels);
    let last: Entry | undefined;
    for (const entry of entries) {
      const { structuredMetadata, parsed } = entry;
      // Neighbours mostly share their label sets.
      if (last?.structuredMetadata !== structuredMetadata || last.parsed !== parsed) {
        text = labelsText(LabelSet.from([...labels.labels, ...structuredMetadata.labels, ...parsed.labels]));
      }
      last = entry;
      const known = merged.get(text);
      if (known === undefined) merged.set(text, { labels: text, entries: [entry] });
      else known.entries.push(entry);
    }
  }
  return [...merged.values()];
}

function labelsText({ labels }: LabelSet): string {
  return `{${labels.map(([name, value]) => `${name}=${quoteGo(value)}`).join(', ')}}`;
}

function addEntries(parts: string[], entries: readonly Entry[]): void {
  let before = '';
  for (const { timestampNs, line, parsed } of entries) {
    parts.push(before, '{"ts":"', printRfc3339(timestampNs), '","line":', JSON.stringify(line));
    if (parsed.size > 0) parts.push(',"parsed":', parsed.json);
    parts.push('}');
    before = ',';
  }
}
