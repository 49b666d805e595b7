import type { LogExpr } from '../../core/logql/ast.js';
import { lineMeaning } from '../../core/logql/pipeline/filter-test.js';
import { exactTree } from '../../core/logql/regexp/parse.js';
import type { RegExpNode } from '../../core/logql/regexp/tree.js';
import { translateForV8 } from '../../core/logql/regexp/v8-engine.js';

/** A text that the page marks in a line, or a pattern that a browser matches without excessive backtracking, with the flags it needs. */
export type TextMark =
  | { readonly kind: 'text'; readonly text: string; readonly ignoresCase: boolean }
  | { readonly kind: 'pattern'; readonly source: string; readonly flags: string };

const maxMarks = 20;
/** Maximum length of a pattern; longer ones are too expensive for every line. */
const maxPatternLength = 2_000;

/** The texts that the line filters of a query search for. Filters whose matches cannot be found quickly and reliably are omitted. */
export function marksOf({ stages }: LogExpr): readonly TextMark[] {
  const marks: TextMark[] = [];
  for (const stage of stages) {
    // Later filters apply to a text other than the stored line.
    if (stage.kind !== 'line-filter') continue;
    const { tests, isNegated } = lineMeaning(stage);
    if (isNegated) continue;
    for (const test of tests) {
      if (test.kind === 'contains' || test.kind === 'equals')
        marks.push({ kind: 'text', text: test.text, ignoresCase: test.ignoresCase });
      else if (test.kind === 'regexp') marks.push(...patternMarks(test.pattern));
    }
  }
  return marks.slice(0, maxMarks);
}

function patternMarks(pattern: string): readonly TextMark[] {
  if (pattern.length > maxPatternLength) return [];
  const tree = exactTree(pattern);
  if (tree === undefined) return [];
  const begin: RegExpNode = { op: 'assert', test: 'begin' };
  // It takes linear time from each position, which is acceptable for the first characters of an expanded line.
  const fromPlace = translateForV8({ op: 'concat', items: [begin, tree] }, false);
  return fromPlace === undefined
    ? []
    : [{ kind: 'pattern', source: fromPlace.source.replace(/^\^/, ''), flags: 'gu' }];
}
