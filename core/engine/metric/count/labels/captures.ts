import type { PatternPart } from '../../../../logql/index.js';
import type { LogsqlFilter, LogsqlPipe } from '../../../../victoria/logsql/ast.js';
import {
  and,
  extract,
  formatInto,
  literalText,
  not,
  or,
  present,
} from '../../../../victoria/logsql/build.js';
import {
  labelColumn,
  paddedLine,
  textBefore,
  textBehind,
  type ParsedLabels,
  type ParsedValues,
} from './parsed-labels.js';

/**
 * The labels of `| pattern`. VictoriaLogs cuts a line like Loki if it has the literal texts of the pattern up to the one behind the last
 * needed label, the first one at its start. If one is missing, Loki takes the rest of the line for the label before it: the needed labels
 * are missing if all of them follow.
 */
export function captureLabels(parts: readonly PatternPart[]): ParsedLabels {
  return {
    key: `captures ${JSON.stringify(parts)}`,
    misparsedRows: undefined,
    values: (names) => extracted(parts, names),
    texts: (names) => [
      ...extracted(parts, names),
      formatInto(paddedLine, '<_msg> '),
      ...framed(through(parts, names), 0),
      ...framed(before(parts, names), 1),
    ],
    decided: (names) => {
      const values = names
        .filter((name) => indexOf(parts, name) >= 0)
        .map((name) => present(labelColumn(name)));
      const areAll = and(isCut(through(parts, names), 0), ...values);
      const [first] = before(parts, names);
      if (first === undefined) return areAll;
      return or(areAll, and(not(isCut(before(parts, names), 1)), ...values.map(not)));
    },
    short: (names) => ({
      replaced: isCut(through(parts, names), 0),
      pattern: written(through(parts, names), ({ name = '' }) =>
        names.includes(name) ? `<${labelColumn(name)}>` : '',
      ),
    }),
    lineOf: (labels) => {
      const values = new Map(labels);
      if (values.size === 0) return uncut(parts);
      return parts
        .map((part) => (part.kind === 'literal' ? part.text : (values.get(part.name ?? '') ?? '')))
        .join('');
    },
    canHold: (_name, value) => !parts.some((part) => part.kind === 'literal' && value.includes(part.text)),
    valuesOf: (line, names) => valuesOf(line, names, parts),
  };
}

type Capture = Extract<PatternPart, { kind: 'capture' }>;

function indexOf(parts: readonly PatternPart[], name: string): number {
  return parts.findIndex((part) => part.kind === 'capture' && part.name === name);
}

/** The parts up to the literal text behind the last of these captures. */
function through(parts: readonly PatternPart[], names: readonly string[]): readonly PatternPart[] {
  return parts.slice(0, Math.max(0, ...names.map((name) => indexOf(parts, name))) + 2);
}

/** The parts before the first of these captures. */
function before(parts: readonly PatternPart[], names: readonly string[]): readonly PatternPart[] {
  const found = names.map((name) => indexOf(parts, name)).filter((index) => index >= 0);
  return parts.slice(0, Math.min(parts.length, ...found));
}

/** A line without the first literal text of the pattern. */
function uncut(parts: readonly PatternPart[]): string {
  const first = parts.find((part) => part.kind === 'literal');
  return first?.kind === 'literal' && first.text.startsWith('-') ? '+' : '-';
}

/** Extracts the values; nothing if no label comes from the pattern. */
function extracted(parts: readonly PatternPart[], names: readonly string[]): readonly LogsqlPipe[] {
  if (names.every((name) => indexOf(parts, name) < 0)) return [];
  const columnOf = ({ name = '' }: Capture, index: number): string =>
    `<plain:${names.includes(name) ? labelColumn(name) : ignored(index)}>`;
  return [extract('_msg', written(through(parts, names), columnOf))];
}

/** A pattern of VictoriaLogs, which decodes HTML entities, with a text for each capture. */
function written(parts: readonly PatternPart[], textOf: (capture: Capture, index: number) => string): string {
  return parts
    .map((part, index) => (part.kind === 'literal' ? literalText(part.text) : textOf(part, index)))
    .join('');
}

/** Extracts the texts before the first and behind the last literal of a pattern; the latter is never empty because of the blank. */
function framed(parts: readonly PatternPart[], nr: number): readonly LogsqlPipe[] {
  if (parts.length === 0) return [];
  const last = parts.length - 1;
  const rest = `<plain:${textBehind(nr)}>`;
  const inner = written(parts, (_capture, index) => (index === last ? rest : `<plain:${ignored(index)}>`));
  const start = parts[0]?.kind === 'literal' ? `<plain:${textBefore(nr)}>` : '';
  return [extract(paddedLine, `${start}${inner}${parts[last]?.kind === 'literal' ? rest : ''}`)];
}

/** Matches lines with all texts of a pattern, after `framed`. */
function isCut([first]: readonly PatternPart[], nr: number): LogsqlFilter {
  const hasAll = present(textBehind(nr));
  return first?.kind === 'literal' ? and(hasAll, not(present(textBefore(nr)))) : hasAll;
}

/** The column of a capture that is not needed. */
function ignored(index: number): string {
  return `__line__ignored_${index}`;
}

function valuesOf(
  line: string,
  names: readonly string[],
  parts: readonly PatternPart[],
): ParsedValues | undefined {
  const values = new Map<string, string>();
  const wanted = names.filter((name) => indexOf(parts, name) >= 0);
  let from = 0;
  let open: string | undefined;
  for (const [index, part] of through(parts, names).entries()) {
    if (part.kind === 'capture') {
      open = part.name;
      if (index === parts.length - 1 && open !== undefined) values.set(open, line.slice(from));
      continue;
    }
    const found = line.indexOf(part.text, from);
    if (found < 0 || (index === 0 && found > 0)) {
      const hasNone = wanted.every((name) => !values.has(name) && name !== open);
      return hasNone && !line.includes(part.text) ? names.map(() => undefined) : undefined;
    }
    if (open !== undefined) values.set(open, line.slice(from, found));
    from = found + part.text.length;
  }
  const isWhole = wanted.every((name) => (values.get(name) ?? '') !== '');
  return isWhole ? names.map((name) => values.get(name)) : undefined;
}
