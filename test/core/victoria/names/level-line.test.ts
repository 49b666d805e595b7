import test from 'ava';
import fc from 'fast-check';
import { levelFromLine } from '../../../../core/victoria/names/level-line.js';
import { levelNames, normalLevel } from '../../../../core/victoria/names/level-words.js';

const word = fc.constantFrom('info', 'WARN', 'err', 'odd', 'Fatal', 'a "quoted" debug', 'x\\', '{', '}', ',');
const name = fc.oneof(fc.constantFrom(...levelNames), fc.constantFrom('msg', 'a', 'LEVEL ', 'notALevelName'));
const value = fc.oneof(
  word,
  fc.nat(),
  fc.boolean(),
  fc.constant(null),
  fc.array(word, { maxLength: 2 }),
  fc.dictionary(name, word, { maxKeys: 2 }),
);
const objects = fc.uniqueArray(fc.tuple(name, value), { maxLength: 5, selector: ([key]) => key });

/** What the list of names says, read off the parsed fields; undefined where only words of the line can tell. */
function levelOfFields(fields: readonly (readonly [string, unknown])[]): string | undefined {
  for (const known of levelNames) {
    const found = fields.find(([key]) => key === known)?.[1];
    // The text as it stands in the line; numbers, lists and objects are no levels.
    if (typeof found === 'string') return normalLevel(JSON.stringify(found).slice(1, -1));
  }
  return undefined;
}

test('the level of an object is that of the field whose name comes first in the list', (t) => {
  fc.assert(
    fc.property(objects, fc.constantFrom('', ' ', '\n'), (fields, space) => {
      const texts = fields.map(
        ([key, each]) => `${JSON.stringify(key)}${space}:${space}${JSON.stringify(each)}`,
      );
      const line = `${space}{${texts.join(`,${space}`)}}${space}`;
      const expected = levelOfFields(fields);
      if (expected === undefined) t.pass();
      else t.is(levelFromLine(line), expected);
    }),
  );
});

test('a field of the list that holds no known level leaves it to the words of the line', (t) => {
  t.is(levelFromLine('{"level":"odd","severity":"error"}'), 'error');
  t.is(levelFromLine('{"level":"odd","msg":"nothing"}'), undefined);
});
