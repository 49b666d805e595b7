import { problemsOf, type ValueProblem } from '../options/index.js';
import { frameSchema } from './file-schema.js';
import { placeOf, toPlain, type LocatedNode } from './located.js';
import type { SourcePosition } from './types.js';

/** An error in the structure of the file: its sections, lists and entries, not their options. */
export interface ShapeProblem {
  readonly kind: ValueProblem['kind'];
  readonly at: SourcePosition;
  /** True for an error at the top level, such as a missing list. */
  readonly isTop: boolean;
  readonly message: string;
  readonly fix?: string | undefined;
  /** Path of the invalid value or unknown key. */
  readonly path?: readonly (string | number)[];
  /** The key that an unknown one probably stands for. */
  readonly meant?: string | undefined;
}

/** All structural errors, each at the unknown key, the invalid value or the parent of a missing key. */
export function shapeProblems(root: LocatedNode): readonly ShapeProblem[] {
  return problemsOf(frameSchema, toPlain(root))
    .filter((problem) => problem.kind !== 'missing' || !isWritten(root, problem))
    .map((problem) => {
      const fix = fixOf(problem, placeOf(root, problem.path).node) ?? problem.fix;
      return {
        kind: problem.kind,
        at: positionOf(root, problem),
        isTop: problem.path.length === 0,
        message: `${subject(problem)} ${problem.message}`,
        path: problem.path,
        meant: problem.meant,
        fix,
      };
    });
}

/** Advice with the text to write instead of a missing value or one of the wrong type. */
function fixOf(problem: ValueProblem, node: LocatedNode | undefined): string | undefined {
  const [list, second] = problem.path;
  if (problem.kind === 'missing') return missingFixes.get(problem.key ?? '');
  if (problem.kind !== 'bad' || node === undefined || list === undefined) return undefined;
  const isEmpty = node.kind === 'scalar' && node.value === null;
  const isText = node.kind === 'scalar' && typeof node.value === 'string';
  const isItem = typeof second === 'number' && problem.path.length === 2;
  if (isText && (isItem ? !/^[\w@./-]+$/.test(node.value) : problem.message.startsWith('must be a mapping')))
    return `write "${isItem ? '- use: NAME' : 'key: value'}", with a space after the colon`;
  if (problem.path.length === 1) {
    if (node.kind === 'map') return 'write each plugin as an item: "- use: NAME"';
    return node.kind === 'list' ? 'write the options as a mapping, without dashes' : undefined;
  }
  if (isItem) {
    if (isEmpty) return 'write "- use: NAME", or remove the dash';
    return node.kind === 'scalar' ? `write "- use: ${String(node.value)}"` : missingFixes.get('use');
  }
  return isEmpty && problem.path.at(-1) === 'use' ? missingFixes.get('use') : undefined;
}

const missingFixes: ReadonlyMap<string, string> = new Map([
  ['version', 'add "version: 1"'],
  [
    'stages',
    'add "stages:" with the plugins of the chain; pipelines/minimal.yaml is the smallest working pipeline',
  ],
  ['endpoints', 'add "endpoints:" with "- use: reference-api"'],
  ['use', 'name the plugin: "use: NAME"'],
]);

/** True if the value is written, although it is missing in the plain data because its variable is unset. */
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
