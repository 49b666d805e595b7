import { compileRegExp } from '../../../logql/regexp/index.js';
import type { ExtractPipe, FieldRef, UnpackPipe } from '../ast.js';
import { flattenJson } from '../eval/json.js';
import { parseExtractPattern, type PatternStep } from '../extract-pattern.js';
import { unquote } from '../unquote.js';
import { isListed } from '../build.js';
import type { Columns, ColumnsMaker } from './update.js';

/** `unpack_json`. A text that is not an object leaves the row unchanged; a broken object counts as empty. */
export function jsonUnpacker(pipe: Omit<UnpackPipe, 'kind'>): ColumnsMaker {
  return unpacker(pipe, (text) => (/^\s*\{/.test(text) ? (flattenJson(text) ?? []) : undefined));
}

/** Makes columns of the fields that are found in a text. Requested fields that are not found become empty. */
export function unpacker(
  { from, fields, prefix }: Omit<UnpackPipe, 'kind'>,
  unpack: (text: string) => Columns | undefined,
): ColumnsMaker {
  return (row) => {
    const found = unpack(row.get(from));
    if (found === undefined) return [];
    const wanted = found.filter(([name]) => name !== '' && (fields.length === 0 || isListed(fields, name)));
    const missing = missingNames(fields, found).map((name) => [name, ''] as const);
    return [...wanted, ...missing].map(([name, value]) => [prefix + name, value]);
  };
}

function missingNames(fields: readonly FieldRef[], found: Columns): string[] {
  const names = new Set(found.map(([name]) => name));
  return fields.flatMap((field) => (field.kind === 'name' && !names.has(field.name) ? [field.name] : []));
}

/** `extract` and `extract_regexp`. */
export function extractor({ kind, pattern, from }: ExtractPipe): ColumnsMaker {
  const extract =
    kind === 'extract' ? patternExtractor(parseExtractPattern(pattern)) : regexpExtractor(pattern);
  return (row) => extract(row.get(from));
}

function regexpExtractor(pattern: string): (text: string) => Columns {
  const compiled = compileRegExp(pattern, { dotAll: true });
  return (text) => {
    const named = compiled.exec(text)?.named;
    return compiled.groupNames.flatMap((name) => (name === '' ? [] : [[name, named?.get(name) ?? '']]));
  };
}

function patternExtractor(steps: readonly PatternStep[]): (text: string) => Columns {
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
