import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import fc from 'fast-check';
import { packageRoot } from '../../../../core/kernel/options/index.js';
import { formatFindings, formats } from '../../../../core/kernel/check/index.js';
import { checkText } from '../check/fake-built-ins.js';
import { deepRuns } from '../../../setup/runs.js';

const text = readFileSync(join(packageRoot(), 'pipelines', 'reference-compatible.yaml'), 'utf8');

const scraps = fc.constantFrom(
  ...[
    '[',
    '{',
    '}',
    ']',
    ': ',
    '- ',
    '\t',
    '"',
    "'",
    '&a ',
    '*a',
    '!t ',
    '|',
    '>',
    '---\n',
    '${X}',
    '${',
    '%',
    '#',
    '\0',
  ],
  ...[
    '\n',
    '\r',
    ' ',
    '<<: ',
    '? ',
    '\ufeff',
    '\u2028',
    '\ud800',
    'null',
    '~',
    '1e999',
    '.inf',
    '__proto__: 1\n',
    '@',
    '`',
  ],
);

/** Replaces some characters of a text; plain data, so that counterexamples are readable. */
const mutation = fc.record({ place: fc.nat(), length: fc.nat(40), scrap: fc.oneof(scraps, fc.string()) });

function mutate(
  before: string,
  { place, length, scrap }: { place: number; length: number; scrap: string },
): string {
  const at = before.length === 0 ? 0 : place % before.length;
  return before.slice(0, at) + scrap + before.slice(at + length);
}

test('no change to a file makes the checker throw; every finding points into the file, and the same text gives the same bytes', async (t) => {
  await fc.assert(
    fc.asyncProperty(fc.array(mutation, { minLength: 1, maxLength: 6 }), async (mutations) => {
      const mutated = mutations.reduce(mutate, text);
      const findings = await checkText(mutated);
      const lines = mutated.split('\n');
      for (const { at } of findings) {
        const line = lines[at.line - 1];
        if (line === undefined || at.column < 1 || at.column > line.length + 1 || at.length < 1) {
          throw new Error(`no such place: ${JSON.stringify({ at, mutated })}`);
        }
      }
      const again = await checkText(mutated);
      const sources = new Map([['site.yaml', mutated]]);
      for (const format of formats) {
        const shown = await formatFindings(findings, format, sources);
        if (shown !== (await formatFindings(again, format, sources))) throw new Error(format);
      }
    }),
    { numRuns: deepRuns(25, 60), includeErrorInReport: true },
  );
  t.pass();
});

test('a file that nests without end is refused before the parser sees it', async (t) => {
  for (const deep of ['['.repeat(50_000), '- '.repeat(50_000), '{a: '.repeat(50_000)]) {
    const [finding, ...others] = await checkText(deep);
    t.is(finding?.rule, 'R001');
    t.deepEqual(others, []);
  }
});

test('a file that multiplies itself by aliases is refused', async (t) => {
  const rows = Array.from(
    { length: 12 },
    (_, row) => `  a${row + 1}: &a${row + 1} [${`*a${row}, `.repeat(12)}]`,
  );
  const findings = await checkText(`version: 1\nlimits:\n  a0: &a0 x\n${rows.join('\n')}\n`);
  t.true(findings.some(({ rule, message }) => rule === 'R004' && message.includes('20000')));
});
