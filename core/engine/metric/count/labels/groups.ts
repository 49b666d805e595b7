import { compileRegExp } from '../../../../logql/regexp/index.js';
import { canBeEmpty } from '../../../../logql/regexp/analysis.js';
import { certainGroups, matchingText, type GroupValues } from '../../../../logql/regexp/match-text.js';
import { parseRegExp, renameGroups } from '../../../../logql/regexp/parse.js';
import type { LogsqlPipe } from '../../../../victoria/logsql/ast.js';
import { and, extractRegexp, not, or, present } from '../../../../victoria/logsql/build.js';
import { labelColumn, textOfMatch, type ParsedLabels } from './parsed-labels.js';

/** Characters to fill the parts of a line with that no label needs, in the order in which they are tried. */
const fillers = ['x', '0', '-'];
/** Lines to represent those that do not match; no common pattern matches all of them. */
const usuallyUnmatched = ['x', '0', '-', ' ', '"', 'é'];

/**
 * The labels of `| regexp`. VictoriaLogs and Loki both use Go's regexp package, and so find the same first match. A group that took no part
 * in a match, and one that matched the empty text, make a label without a value, and a line without a match makes none: lines are certain
 * if they have a value for each needed group, or do not match.
 */
export function regexpLabels(pattern: string): ParsedLabels {
  const compiled = compileRegExp(pattern);
  const { root, isExact } = parseRegExp(pattern);
  const certain: ReadonlySet<string> = isExact ? certainGroups(root) : new Set();
  const isNeverEmpty = isExact && !canBeEmpty(root);
  const made = new Set(compiled.groupNames);
  const wantedOf = (names: readonly string[]): readonly string[] => names.filter((name) => made.has(name));
  const extracting = (names: readonly string[], around: (named: string) => string): readonly LogsqlPipe[] => {
    const wanted = new Set(wantedOf(names));
    if (wanted.size === 0) return [];
    const named = renameGroups(pattern, (name) => (wanted.has(name) ? `?P<${labelColumn(name)}>` : '?:'));
    return [extractRegexp('_msg', around(`(?-s:${named})`))];
  };
  const lineWith = (values: GroupValues): string | undefined => {
    for (const filler of fillers) {
      const line = matchingText(root, values, filler);
      const found = line === undefined ? undefined : compiled.exec(line)?.named;
      if (found !== undefined && [...values].every(([name, value]) => found.get(name) === value)) return line;
    }
    return undefined;
  };
  const unmatched = (): string | undefined => usuallyUnmatched.find((line) => !compiled.test(line));
  const lineOf: ParsedLabels['lineOf'] = (labels) =>
    labels.length === 0 ? unmatched() : lineWith(new Map(labels));
  return {
    key: `groups ${JSON.stringify(pattern)}`,
    misparsedRows: undefined,
    values: (names) => extracting(names, (named) => named),
    texts: (names) => extracting(names, (named) => `(?P<${textOfMatch}>${named})`),
    decided(names) {
      const wanted = wantedOf(names);
      if (wanted.every((name) => certain.has(name))) return undefined;
      const hasAll = and(...wanted.map((name) => present(labelColumn(name))));
      return isNeverEmpty ? or(hasAll, not(present(textOfMatch))) : hasAll;
    },
    lineOf,
    canHold: (name, value) => lineOf([[name, value]]) !== undefined,
    valuesOf(line, names) {
      const found = compiled.exec(line)?.named;
      const values = found && wantedOf(names).map((name) => [name, found.get(name) ?? ''] as const);
      if (values?.some(([, value]) => value === '') === true) return undefined;
      return lineOf(values ?? []) === undefined ? undefined : names.map((name) => found?.get(name));
    },
  };
}
