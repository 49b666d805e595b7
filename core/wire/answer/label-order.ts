import type { LabelSet } from '../../base/labels/label-set.js';

/** What stands between a name and its value; quotes within a value are escaped. */
const endOfName = /(?<!\\)":"/g;

/** A stream of an answer with the JSON of all labels it is shown with. */
interface Shown {
  readonly json: string;
}

/**
 * Streams as Loki orders them: by the text `{name="value", ...}` of their labels, whatever the direction. Clients that lay
 * entries of one instant in the order they came (logcli) show them in this order.
 * @param names every label name of the streams
 */
export function inLabelOrder<Stream extends Shown>(
  streams: readonly Stream[],
  names: ReadonlySet<string>,
): readonly Stream[] {
  if (streams.length < 2) return streams;
  if (!hasContinuedName(names)) return streams.toSorted((a, b) => (a.json < b.json ? -1 : 1));
  // JSON sorts alike, but for what ends a name: `app=` stands behind `app1=`.
  const keyed = streams.map((stream) => ({ stream, key: stream.json.replace(endOfName, '=') }));
  return keyed.sort((a, b) => (a.key < b.key ? -1 : 1)).map(({ stream }) => stream);
}

/** Adds the names of a set to those of others. */
export function addNames(names: Set<string>, { labels }: LabelSet): void {
  for (const [name] of labels) names.add(name);
}

/** Whether one of the names begins with another one: only there it matters what ends a name. */
function hasContinuedName(names: ReadonlySet<string>): boolean {
  // The names that begin with another one stand behind it.
  let before: string | undefined;
  for (const name of [...names].sort()) {
    if (before !== undefined && name.startsWith(before)) return true;
    before = name;
  }
  return false;
}
