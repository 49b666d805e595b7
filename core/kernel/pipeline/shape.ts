import { problemsOf, type ValueProblem, type ValueSchema } from '../options/index.js';
import { frameSchema } from './file-schema.js';
import { entryOf, placeOf, toPlain, type Complaint, type LocatedNode } from './located.js';
import type { SourcePosition } from './types.js';

/** An error in the structure of the file: its sections, lists and entries, not their options. */
export interface ShapeProblem extends Complaint {
  readonly kind: ValueProblem['kind'];
  /** Path of the invalid value or unknown key; undefined in an included file. */
  readonly path?: readonly (string | number)[];
  /** The key that an unknown one probably stands for. */
  readonly meant?: string | undefined;
}

/** A structural error with the position of the unknown key, the invalid value or the parent of a missing key, and with the node there. */
interface PlacedProblem {
  readonly problem: ValueProblem;
  readonly at: SourcePosition;
  readonly node: LocatedNode | undefined;
}

/** The errors of a file by a schema of its structure. */
export function placedProblems(root: LocatedNode, schema: ValueSchema): readonly PlacedProblem[] {
  return problemsOf(schema, toPlain(root)).flatMap((problem) => {
    const { key, value, node } = placeOf(root, problem.path);
    // A value from an unset variable is missing in the plain data although it is written.
    if (problem.kind === 'missing' && entryOf(node, problem.key ?? '') !== undefined) return [];
    return [{ problem, at: problem.kind === 'unknown' ? (key ?? value) : value, node }];
  });
}

/** All structural errors of a pipeline file. */
export function shapeProblems(root: LocatedNode): readonly ShapeProblem[] {
  return placedProblems(root, frameSchema).map(({ problem, at, node }) => {
    const { kind, path, meant } = problem;
    const message = `${subject(problem)} ${problem.message}`;
    const fix = fixOf(problem, node) ?? problem.fix;
    return { kind, at, message, path, meant, fix };
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

function subject(problem: ValueProblem): string {
  const [first, second] = problem.path;
  const last = problem.path.at(-1);
  if (first === undefined || last === undefined) return 'a pipeline';
  if (problem.kind === 'unknown') return `key "${String(last)}"`;
  return typeof second === 'number' && problem.path.length === 2
    ? `item ${second + 1} of "${first}"`
    : `"${String(last)}"`;
}
