import test from 'ava';
import fc from 'fast-check';
import { decolorize } from '../../../../core/logql/stages/decolorize.js';
import { compileRegExp } from '../../../../core/logql/regexp/index.js';
import { deepRuns } from '../../../setup/runs.js';

// The pattern of escape sequences in terminal libraries.
const sequences = compileRegExp(
  '[\\x{1B}\\x{9B}][\\[\\]()#;?]*' +
    '(?:(?:(?:[a-zA-Z\\d]*(?:;[a-zA-Z\\d]*)*)?\\x{07})|(?:(?:\\d{1,4}(?:;\\d{0,4})*)?[\\dA-PRZcf-ntqry=><~]))',
);

const unit = fc.constantFrom(
  '\u001b',
  '\u009b',
  '\u0007',
  ...Array.from('[]()#;?0123'),
  '1234',
  '31m',
  ';;',
  ...Array.from('AQRmxcz=~ é'),
);

test('a line loses what the pattern of terminal sequences matches', (t) => {
  fc.assert(
    fc.property(fc.array(unit, { maxLength: 30 }), (units) => {
      const line = units.join('');
      t.is(decolorize(line), sequences.replaceAllLiteral(line, ''), JSON.stringify(line));
    }),
    { numRuns: deepRuns(2_000, 6_000) },
  );
});

test('colours and titles go, text and lone escapes stay', (t) => {
  t.is(decolorize('\u001b[31mred\u001b[0m \u001b]0;title\u0007end \u001b[38;5;200mx'), 'red end x');
  t.is(decolorize('\u001b and \u001b[ '), '\u001b and \u001b[ ');
});
