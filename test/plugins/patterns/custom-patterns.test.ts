import test from 'ava';
import { parsePatternTexts } from '../../../plugins/patterns/index.js';

test('a file holds a pattern per line, with comments and empty lines between them', (t) => {
  t.deepEqual(parsePatternTexts('# ours\n\njob <_> done\r\n  user=<_> \njob <_> done\n', 'f'), [
    'job <_> done',
    'user=<_>',
  ]);
  t.deepEqual(parsePatternTexts('', 'f'), []);
});

test('or a JSON array of patterns', (t) => {
  t.deepEqual(parsePatternTexts(' ["job <_> done", "# no comment", ""]\n', 'f'), [
    'job <_> done',
    '# no comment',
  ]);
});

test('a pattern may begin with a bracket', (t) => {
  t.deepEqual(parsePatternTexts('[<_>] started\nx', 'f'), ['[<_>] started', 'x']);
});

test('JSON that is no list of texts names the file', (t) => {
  for (const text of ['[1]', '[["a"]]', '["a" "b"]'])
    t.true(t.throws(() => parsePatternTexts(text, 'own.json')).message.startsWith('own.json: '));
});
