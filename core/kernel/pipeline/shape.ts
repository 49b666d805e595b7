import { problemsOf, type ValueProblem } from '../options/index.js';
import { frameSchema } from './file-schema.js';
import { placeOf, toPlain, type LocatedNode } from './located.js';
import type { SourcePosition } from './types.js';

/** An error in the structure of the file: its sections, lists and entries, not their options. */
export interface ShapeProblem {
  readonly kind: ValueProblem['kind'];
  readonly at: SourcePosition;
  /** True for an error of the top level as a whole, such as a missing list. */
  readonly isTop: boolean;
  readonly message: string;
  readonly fix?: string;
}

/** All structural errors, each at the unknown key, the invalid value or the parent of a missing key. */
export function shapeProblems(root: LocatedNode): readonly ShapeProblem[] {
  return problemsOf(frameSchema, toPlain(root))
    .filter((problem) => problem.kind !== 'missing' || !isWritten(root, problem))
    .map((problem) => ({
      kind: problem.kind,
      at: positionOf(root, problem),
      isTop: problem.path.length === 0,
      message: `${subject(problem)} ${problem.message}`,
      ...(problem.fix === undefined ? {} : { fix: problem.fix }),
    }));
}

/** A value from an unset variable is missing from the plain data although it is written. */
function isWritten(root: LocatedNode, problem: ValueProblem): boolean {
  const { node } = placeOf(root, problem.path);
  return node?.kind === 'map' && node.entries.some((entry) => entry.key === problem.key);
}

function positionOf(root: LocatedNode, problem: ValueProblem): SourcePosition {
  const place = placeOf(root, problem.path);
  return problem.kind === 'unknown' ? (place.key ?? place.value) : place.value;
}

function subject(problem: ValueProblem): string {
  const [first, second] = problem.path;
  const last = problem.path.at(-1);
  if (first === undefined || last === undefined) return 'a pipeline';
  if (problem.kind === 'unknown') return `key "${String(last)}"`;
  return typeof second === 'number' && problem.path.length === 2
    ? `item ${second + 1} of "${first}"`
    : `"${String(last)}"`;
}
