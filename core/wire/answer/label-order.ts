import type { LabelSet } from '../../base/labels/label-set.js';
import { sortSteps, type Steps } from '../../base/pace/steps.js';

/** Texts rewritten per step. */
const stepKeys = 64;
/** Names added per step. */
const stepNames = 1_000;
/** The text between a name and its value; quotes within a value are escaped. */
const endOfName = /(?<!\\)":"/g;

/** A stream of an answer with the JSON of all labels it is written with. */
interface Shown {
  readonly json: string;
}

/**
 * Sorts streams as Loki does: by the text `{name="value", ...}` of their labels, whatever the direction. Clients that show entries of one
 * timestamp in the order received (logcli) depend on it.
 * @param names every label name of the streams
 */
export function* inLabelOrder<Stream extends Shown>(
  streams: readonly Stream[],
  names: ReadonlySet<string>,
): Steps<readonly Stream[]> {
  if (streams.length < 2) return streams;
  const isContinued = yield* hasContinuedName(names);
  const keyed: { readonly stream: Stream; readonly key: string }[] = [];
  for (const stream of streams) {
    // JSON texts sort the same, except at the end of a name: `app=` comes after `app1=`.
    keyed.push({ stream, key: isContinued ? stream.json.replace(endOfName, '=') : stream.json });
    if (keyed.length % stepKeys === 0) yield;
  }
  const sorted = yield* sortSteps(keyed, (a, b) => (a.key < b.key ? -1 : 1));
  return sorted.map(({ stream }) => stream);
}

/** A line may have tens of thousands of labels. */
export function* addNames(names: Set<string>, { labels }: LabelSet): Steps<void> {
  let added = 0;
  for (const [name] of labels) {
    names.add(name);
    added += 1;
    if (added % stepNames === 0) yield;
  }
}

/** Whether a name is a prefix of another: only then the end of a name affects the order. */
function* hasContinuedName(names: ReadonlySet<string>): Steps<boolean> {
  // In sorted order, the names with a given prefix directly follow it.
  let before: string | undefined;
  for (const name of yield* sortSteps([...names], (a, b) => (a < b ? -1 : 1))) {
    if (before !== undefined && name.startsWith(before)) return true;
    before = name;
  }
  return false;
}
