import { compileRegExp } from '../../logql/regexp/index.js';
import type { LinearRegExp } from '../../logql/regexp/index.js';
import type { PatternTest } from './ast.js';

const number = '(?:0[xX])?[0-9a-fA-F]*[0-9][0-9a-fA-F]*';
const time = '[0-9]{2}:[0-9]{2}:[0-9]{2}(?:[.,][0-9]+)?';
const date = '[0-9]{4}[-/][0-9]{2}[-/][0-9]{2}';
const placeholders: ReadonlyMap<string, string> = new Map([
  ['N', number],
  ['UUID', '[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}'],
  ['IP4', '[0-9]{1,3}(?:\\.[0-9]{1,3}){3}'],
  ['TIME', time],
  ['DATE', date],
  ['DATETIME', `${date}[T ]${time}(?:Z|[+-][0-9]{2}:[0-9]{2})?`],
  ['W', '(?:"(?:[^"\\\\]|\\\\.)*"|[\\pL\\p{Nd}_]+)'],
]);

/** Compiles the pattern of `pattern_match`; an unknown placeholder is literal text. */
export function compilePattern(test: PatternTest): LinearRegExp {
  const source = test.pattern.replace(/<([A-Z0-9]+)>|[\\^$.|?*+()[\]{}]/g, (all: string, name?: string) => {
    if (name === undefined) return `\\${all}`;
    return placeholders.get(name) ?? all;
  });
  const start = test.where === 'full' || test.where === 'prefix' ? '^' : '';
  const end = test.where === 'full' || test.where === 'suffix' ? '$' : '';
  return compileRegExp(`${start}(?:${source})${end}`, { dotAll: true });
}
