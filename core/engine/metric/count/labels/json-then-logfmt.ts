import { and, field, not, or } from '../../../../victoria/logsql/build.js';
import { jsonLabels } from './json.js';
import { logfmtLabels, mayHavePair, mayHavePairIn } from './logfmt.js';
import { fitted, restricted, type ParsedLabels } from './parsed-labels.js';

// A line that Loki parses as a JSON object starts with a brace, or with blanks before it.
const starts = ['{', ' ', '\t', '\n', '\r'];
const mayBeObjects = or(...starts.map((text) => field('_msg', { kind: 'exact-prefix', text })));

const labelsOfPairs = restricted(logfmtLabels, {
  key: 'pairs that are no objects',
  isDecided: () => not(mayBeObjects),
  mayDiffer: mayBeObject,
});

/**
 * The labels of `| json | logfmt`, as Logs Drilldown asks for them: those of the parser that fits most lines of a sample. A line that does not
 * start with a brace has no labels from `| json`, and one without `=` behind the end of a label's name has no such label from `| logfmt`.
 * Other lines represent themselves.
 */
export const jsonThenLogfmtLabels: ParsedLabels = {
  ...ofObjects(jsonLabels),
  *fittedTo(lines, names) {
    const objects = lines.filter((line) => mayBeObject(line)).length;
    if (2 * objects < lines.length) return labelsOfPairs;
    return ofObjects(yield* fitted(jsonLabels, lines, names));
  },
};

function mayBeObject(line: string): boolean {
  return starts.some((start) => line.startsWith(start));
}

function ofObjects(labels: ParsedLabels): ParsedLabels {
  const { misparsedRows } = labels;
  return {
    ...restricted(labels, {
      key: `objects without pairs ${labels.key}`,
      isDecided: (names) => and(...names.map((name) => not(mayHavePair(name)))),
      mayDiffer: (line, names) => names.some((name) => mayHavePairIn(line, name)),
    }),
    misparsedRows: misparsedRows && and(mayBeObjects, misparsedRows),
  };
}
