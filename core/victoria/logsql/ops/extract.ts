import { compileRegExp } from '../../../logql/regexp/index.js';
import type { ExtractPipe, FieldRef, UnpackPipe } from '../ast.js';
import { flattenJson } from '../eval/json.js';
import { parseExtractPattern, type PatternStep } from '../extract-pattern.js';
import { unquote } from '../unquote.js';
import { isListed } from '../build.js';
import type { Operator, PipeContext } from './operator.js';
import { updateOperator } from './update.js';

type Pairs = readonly (readonly [string, string])[];

/** `unpack_json`. A text that is not an object leaves the row unchanged; a broken object counts as empty. */
export function unpackOperator(pipe: UnpackPipe, context: PipeContext, next: Operator): Operator {
  const unpack = (text: string): Pairs | undefined =>
    /^\s*\{/.test(text) ? (flattenJson(text) ?? []) : undefined;
  return unpackingOperator(pipe, unpack, context, next);
}

/** Writes the fields that are found in a text. Requested fields that are not found become empty. */
export function unpackingOperator(
  pipe: Omit<UnpackPipe, 'kind'>,
  unpack: (text: string) => Pairs | undefined,
  context: PipeContext,
  next: Operator,
): Operator {
  const { from, fields, prefix } = pipe;
  const named = (name: string): string => prefix + name;
  return updateOperator(
    pipe,
    context,
    (row) => {
      const found = unpack(row.get(from));
      if (found === undefined) return [];
      const wanted = fields.length === 0 ? found : found.filter(([name]) => isListed(fields, name));
      const pairs: (readonly [string, string])[] = wanted.flatMap(([name, value]) =>
        name === '' ? [] : [[named(name), value] as const],
      );
      for (const name of missingNames(fields, found)) pairs.push([named(name), '']);
      return pairs;
    },
    next,
  );
}

function missingNames(fields: readonly FieldRef[], found: Pairs): string[] {
  const names = new Set(found.map(([name]) => name));
  return fields.flatMap((field) => (field.kind === 'name' && !names.has(field.name) ? [field.name] : []));
}

/** `extract` and `extract_regexp`. */
export function extractOperator(pipe: ExtractPipe, context: PipeContext, next: Operator): Operator {
  const extract =
    pipe.kind === 'extract'
      ? patternExtractor(parseExtractPattern(pipe.pattern))
      : regexpExtractor(pipe.pattern);
  return updateOperator(pipe, context, (row) => extract(row.get(pipe.from)), next);
}

function regexpExtractor(pattern: string): (text: string) => Pairs {
  const compiled = compileRegExp(pattern, { dotAll: true });
  return (text) => {
    const named = compiled.exec(text)?.named;
    return compiled.groupNames.flatMap((name) => (name === '' ? [] : [[name, named?.get(name) ?? '']]));
  };
}

function patternExtractor(steps: readonly PatternStep[]): (text: string) => Pairs {
  return (text) => {
    const values = matchSteps(steps, text);
    return steps.flatMap((step, i) => (step.field === '' ? [] : [[step.field, values[i] ?? '']]));
  };
}

// Values before the first mismatch are kept, the rest stays empty.
function matchSteps(steps: readonly PatternStep[], text: string): string[] {
  const values: string[] = [];
  const first = steps[0]?.prefix ?? '';
  const start = text.indexOf(first);
  if (start < 0) return values;
  let at = start + first.length;
  for (const [i, step] of steps.entries()) {
    const following = steps[i + 1]?.prefix ?? '';
    const quoted = step.option === 'plain' || text[at] === "'" ? undefined : unquote(text, at);
    if (quoted !== undefined) {
      values.push(quoted.text);
      if (!text.startsWith(following, quoted.end)) return values;
      at = quoted.end + following.length;
      continue;
    }
    if (following === '') {
      values.push(text.slice(at));
      return values;
    }
    const end = text.indexOf(following, at);
    if (end < 0) return values;
    values.push(text.slice(at, end));
    at = end + following.length;
  }
  return values;
}
