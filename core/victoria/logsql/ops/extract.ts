import { compileRegExp } from '../../../logql/regexp/index.js';
import type { ExtractPipe, FieldRef, UnpackPipe } from '../ast.js';
import { flattenJson } from '../eval/json.js';
import { parseExtractPattern, type PatternStep } from '../extract-pattern.js';
import { unquote } from '../unquote.js';
import { isListed } from '../build.js';
import type { Operator, PipeContext } from './operator.js';
import { updateOperator } from './update.js';

type Pairs = readonly (readonly [string, string])[];

/** `unpack_json` and `unpack_logfmt`. Requested fields that are not found become empty. */
export function unpackOperator(pipe: UnpackPipe, context: PipeContext, next: Operator): Operator {
  const { from, fields, prefix } = pipe;
  const unpack = pipe.kind === 'unpack_json' ? unpackJson : parseLogfmt;
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

// A text that is not an object leaves the row unchanged; a broken object counts as empty.
function unpackJson(text: string): Pairs | undefined {
  return /^\s*\{/.test(text) ? (flattenJson(text) ?? []) : undefined;
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

/** Parses `name=value name="quoted value"`; a word without `=` is a name without a value. */
function parseLogfmt(text: string): [string, string][] {
  const fields: [string, string][] = [];
  let at = 0;
  while (at < text.length) {
    const end = nameEnd(text, at);
    const name = text.slice(at, end).trim();
    if (text[end] !== '=') {
      add(fields, name, '');
      at = end + 1;
      continue;
    }
    at = end + 1;
    const quoted = text[at] === '"' || text[at] === '`' ? unquote(text, at) : undefined;
    if (quoted !== undefined) {
      add(fields, name, quoted.text);
      // Parsing ends at anything but a blank after the closing quote.
      if (text[quoted.end] !== ' ') break;
      at = quoted.end + 1;
      continue;
    }
    const blank = text.indexOf(' ', at);
    const valueEnd = blank < 0 ? text.length : blank;
    add(fields, name, text.slice(at, valueEnd));
    at = valueEnd + 1;
  }
  return fields;
}

function nameEnd(text: string, from: number): number {
  let at = from;
  while (at < text.length && text[at] !== '=' && text[at] !== ' ') at++;
  return at;
}

function add(fields: [string, string][], name: string, value: string): void {
  if (name !== '' || value !== '') fields.push([name, value]);
}
