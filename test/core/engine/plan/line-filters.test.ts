import test from 'ava';
import fc from 'fast-check';
import { parseQuery } from '../../../../core/logql/index.js';
import { compilePipeline } from '../../../../core/logql/pipeline/output.js';
import { compileFilter } from '../../../../plugins/embedded-backend/logsql/index.js';
import { Naming } from '../../../../core/victoria/names/naming.js';
import { namesOptions } from '../../../../core/testing/options.js';
import { defaultMissingText } from '../../../../core/victoria/names/missing-line.js';
import { RowReader } from '../../../../core/victoria/names/row-reader.js';
import { logsPlan } from './planned.js';
import { rowsOf, type Fields } from '../../../plugins/embedded-backend/logsql/run-query.js';
import { deepRuns } from '../../../setup/runs.js';

const words = [
  'a',
  'b',
  'foo',
  'Foo',
  'bar',
  ' ',
  '.',
  '*',
  '1',
  '10.0.0.1',
  'é',
  'É',
  '\u212a',
  '\ufffd',
  'k',
  'ſ',
  '日',
  '\n',
  '"',
  '\\',
];
const placeholders = ['', defaultMissingText, 'lost'];
const anyText = fc.array(fc.constantFrom(...words), { maxLength: 4 }).map((parts) => parts.join(''));
const anyLine = fc.oneof(
  {
    weight: 9,
    arbitrary: fc.array(fc.constantFrom(...words), { maxLength: 8 }).map((parts) => parts.join('')),
  },
  { weight: 1, arbitrary: fc.constantFrom(...placeholders) },
);

const atoms = [
  'a',
  '\ufffd',
  'b',
  'foo',
  'Foo',
  'bar',
  ' ',
  '.',
  '\\.',
  '\\*',
  'é',
  'k',
  '日',
  '\\n',
  '1',
  '[a-c]',
  '[^a]',
  '\\w',
  '\\s',
  '\\b',
  '^',
  '$',
];
const { pattern: anyPattern } = fc.letrec<{ pattern: string }>((tie) => ({
  pattern: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    fc.constantFrom(...atoms),
    fc.array(fc.constantFrom(...atoms), { maxLength: 4 }).map((parts) => parts.join('')),
    fc.array(tie('pattern'), { minLength: 2, maxLength: 3 }).map((parts) => parts.join('|')),
    fc.tuple(tie('pattern'), tie('pattern')).map((parts) => parts.join('')),
    fc
      .tuple(
        fc.constantFrom('(', '(?:', '(?i:', '(?s:', '(?-s:', '(?m:'),
        tie('pattern'),
        fc.constantFrom(')', ')*', ')+', ')?', '){2}'),
      )
      .map((parts) => parts.join('')),
    tie('pattern').map((pattern) => `.*${pattern}.*`),
  ),
}));
const anyFlaggedPattern = fc
  .tuple(fc.constantFrom('', '', '', '(?i)', '(?s)', '(?is)', '(?m)', '(?i-s)', '(?U)', '(?-s)'), anyPattern)
  .map((parts) => parts.join(''));
const anyFilter = fc.oneof(
  fc.tuple(fc.constantFrom('|=', '!='), anyText),
  fc.tuple(fc.constantFrom('|~', '!~'), anyFlaggedPattern),
  fc.tuple(
    fc.constantFrom('|>', '!>'),
    fc
      .array(fc.constantFrom('<_>', 'a', 'foo', ' ', '.', 'é', '\n'), { minLength: 1, maxLength: 5 })
      .map((parts) => parts.join('')),
  ),
);
const anyAddress = fc.tuple(
  fc.constantFrom('|=', '!='),
  fc
    .constantFrom('10.0.0.1', '10.0.0.0/8', '10.0.0.0/31', '10.0.0.1-10.0.0.9', '::1')
    .map((address) => ({ address })),
);
type Term = string | { readonly address: string };
const anyStage = fc
  .oneof({ weight: 8, arbitrary: anyFilter }, { weight: 1, arbitrary: anyAddress })
  .chain(([op, first]: readonly [string, Term]) =>
    fc
      .array(
        op.endsWith('=') ? anyText : op.endsWith('~') ? anyFlaggedPattern : fc.constantFrom('a<_>', '<_>é'),
        { maxLength: 2 },
      )
      .map((others) => `${op} ${[first, ...others].map(termText).join(' or ')}`),
  );

function termText(term: Term): string {
  return typeof term === 'string' ? JSON.stringify(term) : `ip(${JSON.stringify(term.address)})`;
}

const namings = [namesOptions(), { ...namesOptions(), backendDefaultMsgValue: 'lost' }].map(
  (settings) => new Naming(settings),
);

test('the lines that the backend sends and the proxy lets pass are those that pass all line filters', (t) => {
  let sent = 0;
  let keptBack = 0;
  fc.assert(
    fc.property(
      fc.array(anyLine, { minLength: 1, maxLength: 8 }),
      fc.array(anyStage, { minLength: 1, maxLength: 2 }),
      fc.constantFrom(...namings),
      (lines, stages, naming) => {
        const ast = parsed(`{app="x"} ${stages.join(' ')}`);
        fc.pre(ast !== undefined);
        const plan = logsPlan(ast, naming);
        const isAsked = compileFilter(plan.filter);
        const whole = compilePipeline(ast.stages);
        const residual = compilePipeline(plan.residual);
        const reader = new RowReader(naming);
        const rows = lines.map((line): Fields => {
          return { _time: '2026-11-01T00:00:00Z', _stream: '{app="x"}', app: 'x', _msg: line, b: 'foo bar' };
        });
        for (const [index, view] of rowsOf(rows).entries()) {
          const { timestampNs, line, stream, structuredMetadata, isRebuilt } = reader.read(rows[index] ?? {});
          const entry = { timestampNs, line, stream: stream.labels, structuredMetadata };
          const asked = isAsked(view);
          const passes = whole(entry) !== undefined;
          if (passes && !asked) return false;
          // The proxy applies all filters to lines that the backend has not seen.
          if (!isRebuilt && asked && (residual(entry) !== undefined) !== passes) return false;
          if (passes) sent += 1;
          else if (!asked) keptBack += 1;
        }
        return true;
      },
    ),
    { numRuns: deepRuns(400, 1_000) },
  );
  t.true(sent > 0);
  t.true(keptBack > 0);
});

function parsed(text: string): Extract<ReturnType<typeof parseQuery>, { kind: 'log' }> | undefined {
  try {
    const ast = parseQuery(text);
    return ast.kind === 'log' ? ast : undefined;
  } catch {
    return undefined;
  }
}
