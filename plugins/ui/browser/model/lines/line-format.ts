import { atEnd, atFault, LogfmtReader } from '../../../../../core/logql/pipeline/logfmt-reader.js';
import { labelName } from '../../../../../core/logql/pipeline/slot.js';
import { clashSuffix } from '../../../../../core/logql/pipeline/types.js';
import type { LogRow } from '../log-rows.js';
import { jsonTree, type JsonNode, type LabelNames } from './json-tree.js';

/** A line, taken apart so that it can be read. */
export type LineFormat =
  | { readonly kind: 'json'; readonly tree: JsonNode }
  | { readonly kind: 'logfmt'; readonly fields: readonly LogfmtField[] }
  | { readonly kind: 'text'; readonly text: string };

export interface LogfmtField {
  readonly name: string;
  readonly value: string;
  readonly label: LabelNames | undefined;
}

/** Longer lines are shown as text, and only their beginning. */
const maxLogfmt = 100_000;
const maxFields = 500;

/** Recognizes JSON and logfmt; any other line is a text, in which `\n` and `\t` of a stack trace are breaks. */
export function formatLine(line: string): LineFormat {
  const tree = jsonTree(line);
  if (tree !== undefined) return { kind: 'json', tree };
  const fields = logfmtFields(line);
  return fields === undefined ? { kind: 'text', text: withBreaks(line) } : { kind: 'logfmt', fields };
}

/** The pairs of a line that is made of them: at least two, and no more other words than pairs. */
function logfmtFields(line: string): readonly LogfmtField[] | undefined {
  if (line.length > maxLogfmt || !line.includes('=')) return undefined;
  const reader = new LogfmtReader();
  const fields: LogfmtField[] = [];
  let others = 0;
  reader.start(line);
  for (let token = reader.next(); token !== atEnd; token = reader.next()) {
    const { keyFrom, keyTo, valueFrom, valueTo, unquoted } = reader;
    if (token === atFault || line.charAt(keyTo) !== '=') {
      others += 1;
      continue;
    }
    const name = line.slice(keyFrom, keyTo);
    const label = labelName(name);
    fields.push({
      name,
      value: unquoted ?? line.slice(valueFrom, valueTo),
      label: label === '' ? undefined : { usual: label, clashing: label + clashSuffix },
    });
    if (fields.length > maxFields) return undefined;
  }
  return fields.length >= 2 && fields.length > others ? fields : undefined;
}

function withBreaks(line: string): string {
  return /\\n(?:\\t|\s|.*\\n)/.test(line) && !line.includes('\n')
    ? line.replaceAll('\\n', '\n').replaceAll('\\t', '\t')
    : line;
}

/** A filter that a field of a line offers; `parser` is the stage that the query may lack. */
export interface FieldFilter {
  readonly name: string;
  readonly parser: 'json' | 'logfmt' | undefined;
}

/** The label by which a field of the line can be filtered; undefined if the query has parsed the line and made another one of it. */
export function fieldFilter(
  { stream, metadata, parsed }: LogRow,
  names: LabelNames | undefined,
  value: string,
  parser: 'json' | 'logfmt',
): FieldFilter | undefined {
  // An empty value is none for a filter, and invalid characters are changed by the stage.
  if (names === undefined || value === '' || value.includes('\ufffd')) return undefined;
  const isTaken = Object.hasOwn(stream, names.usual) || Object.hasOwn(metadata, names.usual);
  const name = isTaken ? names.clashing : names.usual;
  if (Object.hasOwn(parsed, name) && parsed[name] === value) return { name, parser: undefined };
  const isParsed = Object.keys(parsed).some((label) => !label.startsWith('__'));
  return isParsed ? undefined : { name, parser };
}

/** The parsed labels of a row that its formatted line shows, with the same values. */
export function labelsShown(row: LogRow, format: LineFormat): ReadonlySet<string> {
  const shown = new Set<string>();
  const look = (names: LabelNames | undefined, value: string): void => {
    const filter = fieldFilter(row, names, value, 'json');
    if (filter !== undefined && filter.parser === undefined) shown.add(filter.name);
  };
  const walk = (node: JsonNode): void => {
    if (node.kind !== 'object') return;
    for (const { label, value } of node.members) {
      if ('text' in value) look(label, value.text);
      else walk(value);
    }
  };
  if (format.kind === 'json') walk(format.tree);
  if (format.kind === 'logfmt') for (const { label, value } of format.fields) look(label, value);
  return shown;
}
