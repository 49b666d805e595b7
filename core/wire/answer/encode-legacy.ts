import { ofKey } from '../../base/memory/byte-lru.js';
import type { Direction } from '../api/request.js';
import { LabelSet, labelsText } from '../../base/label-set.js';
import { textOrder } from '../../base/order.js';
import { eachStep, sortSteps, type Steps } from '../../base/pace/steps.js';
import { printRfc3339 } from '../../base/time/index.js';
import { BodyParts } from './packed.js';
import { encodeStats, finishedAnswer, warningsText } from './encode.js';
import { orderedEntries } from './encode-streams.js';
import type { Answer, EncodedAnswer, Entry, StreamResult } from './types.js';

/** Inputs of the encoding of a legacy answer, besides the answer. */
export interface LegacyOptions {
  /** True if the labels of entries stay separate from those of their stream. */
  readonly categorizeLabels: boolean;
  readonly direction: Direction;
}

/**
 * Encodes an answer to `/api/prom/query` in its legacy format: `{"streams":[{"labels","entries": [{"ts","line","parsed"}]}],"stats"}`.
 * Structured metadata only appears within the labels.
 */
export function* encodeLegacySteps(answer: Answer, options: LegacyOptions): Steps<EncodedAnswer> {
  if (answer.kind === 'encoded') return answer;
  if (answer.kind !== 'streams')
    throw new Error(`${answer.kind} has no legacy shape: only logs are asked for`);
  const streams = yield* options.categorizeLabels ? shownApart(answer.streams) : shownMerged(answer.streams);
  const isForward = options.direction === 'forward';
  const body = new BodyParts();
  body.push('{"streams":[');
  let before = '';
  for (const { labels, entries } of yield* sortSteps(streams, byLabels)) {
    body.push(before, '{"labels":', JSON.stringify(labels), ',"entries":[');
    yield* addEntries(body, orderedEntries(entries, isForward));
    body.push(']}');
    before = ',';
  }
  body.push('],"stats":', encodeStats(answer.stats));
  body.push(warningsText(answer));
  body.push('}');
  return finishedAnswer(200, yield* body.bytes(), 'application/json; charset=UTF-8');
}

/** A stream as written: the text `{name="value", ...}` of its labels, and its entries. */
interface Shown {
  readonly labels: string;
  readonly entries: readonly Entry[];
}

const byLabels = (a: Shown, b: Shown): number => textOrder(a.labels, b.labels);

function* shownApart(streams: readonly StreamResult[]): Steps<Shown[]> {
  const shown: Shown[] = [];
  yield* eachStep(streams, ({ labels, entries }) => shown.push({ labels: labelsText(labels), entries }));
  return shown;
}

/** Splits and merges streams by all label groups of their entries, which together name a stream. */
function* shownMerged(streams: readonly StreamResult[]): Steps<Shown[]> {
  const merged = new Map<string, { readonly labels: string; readonly entries: Entry[] }>();
  for (const { labels, entries } of streams) {
    let text = labelsText(labels);
    let last: Entry | undefined;
    yield* eachStep(entries, (entry) => {
      const { structuredMetadata, parsed } = entry;
      // Adjacent entries mostly share their label sets.
      if (last?.structuredMetadata !== structuredMetadata || last.parsed !== parsed) {
        text = labelsText(LabelSet.from([...labels.labels, ...structuredMetadata.labels, ...parsed.labels]));
      }
      last = entry;
      ofKey(merged, text, () => ({ labels: text, entries: [] })).entries.push(entry);
    });
    yield;
  }
  return [...merged.values()];
}

function* addEntries(body: BodyParts, entries: readonly Entry[]): Steps<void> {
  let before = '';
  for (const { timestampNs, line, parsed } of entries) {
    body.push(before, '{"ts":"', printRfc3339(timestampNs), '","line":', JSON.stringify(line));
    if (parsed.size > 0) body.push(',"parsed":', parsed.json);
    body.push('}');
    before = ',';
    if (body.isFull) {
      body.flush();
      yield;
    }
  }
}
