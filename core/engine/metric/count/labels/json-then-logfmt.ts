import { and, not } from '../../../../victoria/logsql/build.js';
import { jsonLabels, noObjects } from './json.js';
import { logfmtLabels, mayHavePair, mayHavePairIn } from './logfmt.js';
import { fitted, restricted, type ParsedLabels } from './parsed-labels.js';

const labelsOfPairs = restricted(logfmtLabels, {
  key: 'pairs that are no objects',
  isDecided: () => noObjects.filter,
  mayDiffer: (line) => !noObjects.includes(line),
});

/**
 * The labels of `| json | logfmt`, as Logs Drilldown asks for them: those of the parser that fits most lines of a sample. A line that does not
 * start with a brace has no labels from `| json`, and one without `=` behind the end of a label's name has no such label from `| logfmt`.
 * Other lines represent themselves.
 */
export const jsonThenLogfmtLabels: ParsedLabels = {
  ...ofObjects(jsonLabels),
  *fittedTo(lines, names) {
    const objects = lines.filter((line) => !noObjects.includes(line)).length;
    if (2 * objects < lines.length) return labelsOfPairs;
    return ofObjects(yield* fitted(jsonLabels, lines, names));
  },
};

function ofObjects(labels: ParsedLabels): ParsedLabels {
  const { misparsedRows } = labels;
  return {
    ...restricted(labels, {
      key: `objects without pairs ${labels.key}`,
      isDecided: (names) => and(...names.map((name) => not(mayHavePair(name)))),
      mayDiffer: (line, names) => names.some((name) => mayHavePairIn(line, name)),
    }),
    misparsedRows: misparsedRows && and(not(noObjects.filter), misparsedRows),
  };
}
