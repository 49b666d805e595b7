import test from 'ava';
import fc from 'fast-check';
import { compileFilter } from '../../../../plugins/embedded-backend/logsql/index.js';
import {
  type LineField,
  rebuiltLinesExactly,
  rebuiltLinesThatPass,
} from '../../../../core/engine/plan/missing-lines.js';
import type { LineFilterStage } from '../../../../core/logql/ast.js';
import { parseQuery } from '../../../../core/logql/index.js';
import { compileLineFilter } from '../../../../core/logql/stages/line-filter.js';
import { matcher, streamMatch } from '../../../../core/victoria/logsql/build.js';
import { printFilter } from '../../../../core/victoria/logsql/print.js';
import { rebuildLine } from '../../../../core/victoria/names/missing-line.js';
import { rowsOf, type Fields } from '../../../plugins/embedded-backend/logsql/run-query.js';
import { deepRuns } from '../../../setup/runs.js';

function filterOf(op: LineFilterStage['op'], ...values: readonly string[]): LineFilterStage {
  const span = { start: 0, end: 0 };
  const alternatives = values.map((value) => ({ kind: 'text' as const, value, span }));
  return { kind: 'line-filter', op, alternatives, span };
}

const texts = [
  'error',
  'u001f',
  'n',
  '"',
  '\\',
  '\n',
  '\u001f',
  ':',
  ',',
  '{',
  '0',
  'f',
  'é',
  'Status',
  '}',
  'b',
];
const anyText = fc
  .array(fc.constantFrom(...texts), { minLength: 1, maxLength: 4 })
  .map((parts) => parts.join(''));
const anyFields: fc.Arbitrary<Fields> = fc
  .array(fc.tuple(anyText, anyText), { minLength: 1, maxLength: 3 })
  .map((fields) => Object.fromEntries(fields));
const quoted = (text: string): string => text.replace(/[\\{}]/g, '\\$&');

test('a rebuilt line that passes a filter is asked for, whatever stands in its fields', (t) => {
  fc.assert(
    fc.property(anyFields, fc.nat(60), fc.integer({ min: 1, max: 12 }), (fields, from, length) => {
      const line = rebuildLine(Object.entries(fields));
      const start = from % line.length;
      const text = line.slice(start, start + length);
      const stages = [
        filterOf('|=', text),
        filterOf('|=', 'is in no line', text),
        filterOf('|~', quoted(text)),
        filterOf('|~', `(?i)${quoted(text)}`),
        filterOf('!=', 'is in no line'),
      ];
      const [row] = rowsOf([fields]);
      for (const stage of stages) {
        if (!compileLineFilter(stage)(line)) continue;
        const asked = rebuiltLinesThatPass(stage, Object.keys(fields));
        t.true(
          row !== undefined && compileFilter(asked)(row),
          `${line} ${JSON.stringify(stage)} ${printFilter(asked)}`,
        );
      }
    }),
    { numRuns: deepRuns(700, 2_000) },
  );
});

test('fields show exactly which rebuilt lines pass a filter, unless it looks for more than parts of names and values', (t) => {
  let decided = 0;
  fc.assert(
    fc.property(anyFields, fc.nat(60), fc.integer({ min: 1, max: 12 }), (fields, from, length) => {
      const line = rebuildLine(Object.entries(fields));
      const start = from % line.length;
      const named = Object.keys(fields).map((name) => ({ name }));
      const [row] = rowsOf([fields]);
      // Texts in this line, and texts in other lines with the same parts.
      for (const text of [line.slice(start, start + length), texts[start % texts.length] ?? '', ''])
        for (const stage of [
          filterOf('|=', text),
          filterOf('!=', text),
          filterOf('|=', 'is in no line', text),
        ]) {
          const asked = rebuiltLinesExactly([stage], named);
          if (asked === undefined) continue;
          decided += 1;
          t.is(
            row !== undefined && compileFilter(asked)(row),
            compileLineFilter(stage)(line),
            `${line} ${JSON.stringify(stage)} ${printFilter(asked)}`,
          );
        }
    }),
    { numRuns: deepRuns(700, 2_000) },
  );
  t.true(decided > 1_000);
});

test('fields do not show whether a rebuilt line has quotes, escapes, or what a pattern matches', (t) => {
  const isDecided = (stage: LineFilterStage): boolean =>
    rebuiltLinesExactly([stage], [{ name: 'path' }]) !== undefined;
  t.true(isDecided(filterOf('|=', 'timeout')));
  t.true(isDecided(filterOf('|~', 'time|late')));
  for (const text of ['"status"', 'a\\b', 'a\nb', ':', '\ufffd', '\ud800'])
    t.false(isDecided(filterOf('|=', text)), JSON.stringify(text));
  t.false(isDecided(filterOf('|~', 'time.*out')));
  t.false(isDecided(filterOf('|~', '(?i)timeout')));
});

test('line filters alone are decided by fields, of which there may be 300', (t) => {
  const stages = parseQuery('{app="x"} |= "" |= "timeout"');
  const parsed = parseQuery('{app="x"} |= "timeout" | json');
  if (stages.kind !== 'log' || parsed.kind !== 'log') throw new Error('no log queries');
  const named = (count: number): readonly LineField[] =>
    Array.from({ length: count }, (_, n) => ({ name: `f${n}` }));
  t.true(rebuiltLinesExactly(stages.stages, named(300)) !== undefined);
  t.is(rebuiltLinesExactly(stages.stages, named(301)), undefined);
  t.is(rebuiltLinesExactly(parsed.stages, named(1)), undefined);
});

test('a field that only some lines have is looked for in these alone', (t) => {
  const within = streamMatch(matcher('env', '=', ''));
  const asked = rebuiltLinesExactly([filterOf('|=', 'slow')], [{ name: 'path' }, { name: 'env', within }]);
  t.is(asked && printFilter(asked), 'path:*"slow"* or {env=""} env:*"slow"*');
});

test('rows whose fields hold the text nowhere are not asked for', (t) => {
  const asked = (stage: LineFilterStage): string =>
    printFilter(rebuiltLinesThatPass(stage, ['path', 'status'])).replaceAll('"', '');
  t.is(asked(filterOf('|=', 'timeout')), 'path:*imeout* or status:*imeout*');
  t.is(asked(filterOf('|=', 'stat')), 'path:*stat* or status:*');
  t.is(asked(filterOf('|=', '"status":"500"')), '(path:*status* or status:*) (path:~00 or status:~00)');
  t.is(asked(filterOf('|=', 'a\\b')), '*');
  t.is(asked(filterOf('!=', 'timeout')), '*');
});
