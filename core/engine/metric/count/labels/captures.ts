import type { PatternPart } from '../../../../logql/index.js';
import type { LogsqlFilter, LogsqlPipe } from '../../../../victoria/logsql/ast.js';
import { and, not, present } from '../../../../victoria/logsql/build.js';
import { labelColumn, textBefore, textBehind, type ParsedLabels } from './parsed-labels.js';

/** The column of the line with a blank behind it. */
const padded = '__line__padded';
const [before, rest] = [textBefore(0), textBehind(0)];

/**
 * The labels of `| pattern`. VictoriaLogs cuts a line like Loki if it has all literal texts of the pattern, the first one at its start. If
 * one is missing, Loki takes the rest of the line for the label before it.
 */
export function captureLabels(parts: readonly PatternPart[]): ParsedLabels {
  const literals = parts.map((part) => (part.kind === 'literal' ? escaped(part.text) : undefined));
  const [startsFixed, endsFixed] = [literals[0], literals.at(-1)].map((text) => text !== undefined);
  /** The pattern with a column, or a text, for each capture. */
  const written = (capture: (name: string | undefined, index: number) => string): string =>
    parts.map((part, index) => literals[index] ?? capture(nameOf(part), index)).join('');
  const extracting = (names: readonly string[]): LogsqlPipe =>
    extract(
      '_msg',
      written(
        (name, index) => `<plain:${names.includes(name ?? '') ? labelColumn(name ?? '') : ignored(index)}>`,
      ),
    );
  const isCut: LogsqlFilter = startsFixed ? and(present(rest), not(present(before))) : present(rest);
  return {
    key: `captures ${JSON.stringify(parts)}`,
    misparsedRows: undefined,
    values: (names) => [extracting(names)],
    texts: (names) => [
      extracting(names),
      { kind: 'format', pattern: '<_msg> ', as: padded, rule: 'overwrite' },
      extract(
        padded,
        `${startsFixed ? `<plain:${before}>` : ''}${written(ending(parts))}${endsFixed ? `<plain:${rest}>` : ''}`,
      ),
    ],
    decided: () => isCut,
    shortenable: () => isCut,
    shortLine: (names) =>
      written((name) => (name !== undefined && names.includes(name) ? `<${labelColumn(name)}>` : '')),
    lineOf: (labels) => {
      const values = new Map(labels);
      return parts
        .map((part) => (part.kind === 'literal' ? part.text : (values.get(part.name ?? '') ?? '')))
        .join('');
    },
    groupOf: (line, names) => groupOf(line, names, parts),
  };
}

/** Writes a column for the text behind the last literal, which is never empty because of the blank. */
function ending(parts: readonly PatternPart[]): (name: string | undefined, index: number) => string {
  const last = parts.length - 1;
  return (_name, index) => `<plain:${index === last ? rest : ignored(index)}>`;
}

function nameOf(part: PatternPart): string | undefined {
  return part.kind === 'capture' ? part.name : undefined;
}

/** The column of a capture that is not needed. */
function ignored(index: number): string {
  return `__line__ignored_${index}`;
}

function extract(from: string, pattern: string): LogsqlPipe {
  return { kind: 'extract', pattern, from, rule: 'overwrite' };
}

/** Text in a pattern of VictoriaLogs, which decodes HTML entities. */
function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

function groupOf(line: string, names: readonly string[], parts: readonly PatternPart[]): string {
  const values = new Map<string, string>();
  let from = 0;
  let open: string | undefined;
  for (const [index, part] of parts.entries()) {
    if (part.kind === 'capture') {
      open = part.name;
      if (index === parts.length - 1 && open !== undefined) values.set(open, line.slice(from));
      continue;
    }
    const found = line.indexOf(part.text, from);
    if (found < 0 || (index === 0 && found > 0)) return line;
    if (open !== undefined) values.set(open, line.slice(from, found));
    from = found + part.text.length;
  }
  return JSON.stringify(names.map((name) => values.get(name)));
}
