import test from 'ava';
import { simplifiedRegexp } from '../../../../core/logql/pipeline/regexp-simplification.js';
import fc from 'fast-check';
import { LabelSet } from '../../../../core/base/label-set.js';
import {
  checkStages,
  evaluateEntry,
  parseQuery,
  withFilters,
  type Filters,
} from '../../../../core/logql/index.js';

/** True if a query keeps an entry whose line and whose label `v` are this text. */
function keeps(stages: string, text: string, filters: Filters = 'loki'): boolean {
  const query = withFilters(parseQuery(`{app="x"} ${stages}`), filters);
  const stream = LabelSet.from([
    ['app', 'x'],
    ['v', text],
  ]);
  return evaluateEntry(query, { timestampNs: 0n, line: text, stream, structuredMetadata: LabelSet.empty })
    .kept;
}

/** Stages, a text, whether Loki keeps it, and whether the filters as written keep it. */
const cases: readonly (readonly [string, string, boolean, boolean])[] = [
  // A pattern for a label that starts or ends with a text matches that text anywhere.
  ['| v=~"pay.*"', 'repay', true, false],
  ['| v=~".*pay"', 'payer', true, false],
  ['| v=~"(pay.*)"', 'repay', true, false],
  ['| v!~"pay.*"', 'repay', false, true],
  ['| v=~"pay.*"', 'pa', false, false],
  ['| v=~"pay"', 'repay', false, false],
  ['| v=~"pay|tax.*"', 'syntaxes', true, false],
  ['| v=~"pay|tax.*"', 'repay', false, false],
  ['| v=~"pay(ment|roll)"', 'repayments', true, false],
  ['| v=~"pay.+"', 'repaid pay!', false, false],
  // Nothing may come between a text and alternatives.
  ['|~ "pay.*(ment|roll)"', 'pay the ment', false, true],
  ['|~ "pay.*(ment|roll)"', 'a payroll', true, true],
  ['!~ "pay.*(ment|roll)"', 'pay the ment', true, false],
  ['|~ "(?i)pay.*(ment|roll)"', 'PAY the MENT', false, true],
  ['|~ "(?i)pay.*(ment|roll)"', 'PAYMENT', true, true],
  ['|~ "(ment|roll).*pay"', 'ment to pay', true, true],
  ['|~ "pay((ment|roll))"', 'pay', false, false],
  // A single character is a character class, not a text.
  ['|~ "pay.*(a|b)"', 'pay the b', true, true],
  // Every alternative, even one of a later group, may directly follow the text.
  ['|~ "pay(ment|roll)(one|two)"', 'paytwo', true, false],
  // If several texts share a prefix, the last one overwrites the others.
  ['|~ "pay(ment.*|roll.*)"', 'payment', false, true],
  ['|~ "pay(ment.*|roll.*)"', 'payroll', true, true],
  // A pattern that matches everything is dropped next to a text.
  ['| v=~"pay|.*"', 'tax', false, true],
  ['| v=~"|pay"', '', false, true],
  ['|~ "" or "^pay"', 'repay', false, true],
  ['|~ "" or "" or "^pay"', 'repay', true, true],
  ['|~ "^pay" or "" or ""', 'repay', false, true],
  ['|= "pay" or ""', 'tax', false, true],
  ['|= "" or "pay"', 'tax', false, true],
  ['!= "pay" or ""', 'tax', false, false],
  ['|~ "pay" or ".*"', 'tax', false, true],
  ['|~ "pay" or "(?s).*"', 'tax', true, true],
  // `.+` needs a character, and a line feed counts as one.
  ['|~ ".+"', '\n', true, false],
  ['| v=~".+"', 'a\nb', true, false],
  ['| v=~".*"', 'a\nb', true, false],
  // Counted repetitions are expanded.
  ['| v=~"pay.{0,}"', 'repay', true, false],
  ['| v=~"(?:pay){1}.*"', 'repay', true, false],
  ['| v=~"pa{1}y.*"', 'repay', false, false],
  ['| v=~"p{0}ay.*"', 'repay', true, false],
  ['|~ "pa(?s){1,2}y.+s"', 'paaying taxes', true, true],
  // Case-insensitive letters.
  ['| v=~"(?i)pay.*"', 'rePAY', true, false],
  ['| v=~"(?i)pay"', 'PAY', true, true],
  ['| v=~"(?i)pay"', 'PAYS', false, false],
  ['| v=~"[pP]ay.*"', 'REPay', false, false],
  ['| v=~"[pP].*"', 'REP', true, false],
  ['|~ "(?i)oké"', 'O\u212aÉ', true, true],
  ['|~ "(?i)ko"', '\u212ao', false, true],
  ['|~ "(?i)si"', 's\u0130', true, false],
  ['|~ "(?i)us"', 'U\u017f', false, true],
  ['|~ "(?i)жар"', 'ЖАР', true, true],
  ['|~ "(?i)рож"', 'РОЖ', false, true],
];

for (const [stages, text, loki, exact] of cases) {
  test(`${stages} on ${JSON.stringify(text)}: ${String(loki)} as Loki, ${String(exact)} as written`, (t) => {
    t.is(keeps(stages, text), loki);
    t.is(keeps(stages, text, 'exact'), exact);
  });
}

const anyWord = fc.stringMatching(/^[ab]{2,3}$/);
const anyChoice = fc.array(fc.nat(4), { maxLength: 6 });

test('a pattern of a text and alternatives asks for the text with one of them right behind it', (t) => {
  let kept = 0;
  fc.assert(
    fc.property(
      anyWord,
      fc.uniqueArray(anyWord, { minLength: 2, maxLength: 3, selector: ([first]) => first }),
      // If `.*` is on both sides, Loki does not change the pattern.
      fc.constantFrom(['', ''], ['.*', ''], ['', '.*']),
      anyChoice,
      (word, ends, [before = '', between = ''], choice) => {
        const text = choice.map((part) => [word, ...ends, ' ', '\n'][part] ?? '').join('');
        const pattern = JSON.stringify(`${before}${word}${between}(?:${ends.join('|')})`);
        const wanted = ends.some((end) => text.includes(`${word}${end}`));
        if (wanted) kept += 1;
        for (const stage of [`|~ ${pattern}`, `| v=~${pattern}`])
          if (keeps(stage, text) !== wanted) return false;
        return [`!~ ${pattern}`, `| v!~${pattern}`].every((stage) => keeps(stage, text) !== wanted);
      },
    ),
    { numRuns: 300 },
  );
  t.true(kept > 10);
});

const letters = 'k K s S i I o O é É ж Ж р Р \u212a \u017f \u0130 ß'.split(' ');
const anyLetters = fc.array(fc.constantFrom(...letters), { maxLength: 6 }).map((all) => all.join(''));

test('a text in any case is looked for by the first byte of its beginning and the lower case of the rest', (t) => {
  let kept = 0;
  fc.assert(
    fc.property(
      anyLetters.filter((word) => word !== ''),
      anyLetters,
      (word, text) => {
        const wanted = foundSlowly(lowerCase(capitals(word)), Array.from(text));
        if (wanted) kept += 1;
        return keeps(`|~ ${JSON.stringify(`(?i)${word}`)}`, text) === wanted;
      },
    ),
    { numRuns: 2000, examples: [['k', '\u212a']] },
  );
  t.true(kept > 50);
});

function foundSlowly(word: readonly string[], text: readonly string[]): boolean {
  return text.some((_, from) =>
    word.every((letter, at) => {
      const other = text[from + at];
      if (other === undefined || lowerCase([other])[0] !== letter) return false;
      return at > 0 || firstByte(other) === firstByte(letter);
    }),
  );
}

/** The letters as Go's parser stores them: the first one of all cases of a letter. */
function capitals(word: string): readonly string[] {
  return Array.from(word, (letter) => {
    if (letter === '\u212a') return 'K';
    if (letter === '\u017f') return 'S';
    return letter === 'ß' ? letter : letter.toUpperCase();
  });
}

function lowerCase(letters: readonly string[]): readonly string[] {
  return letters.map((letter) => (letter === '\u0130' ? 'i' : letter.toLowerCase()));
}

function firstByte(letter: string): number {
  return Buffer.from(/[A-Z]/.test(letter) ? letter.toLowerCase() : letter).readUInt8(0);
}

const entry = {
  timestampNs: 0n,
  line: '',
  structuredMetadata: LabelSet.empty,
};

test('both sides of an and are compared, and the right one of an or only where the left one is false', (t) => {
  const errorOf = (filter: string): string => {
    const stream = LabelSet.from([
      ['app', 'x'],
      ['took', '1ns'],
      ['size', '1.5e3B'],
      ['n', '0'],
    ]);
    const { kept, labels } = evaluateEntry(`{app="x"} | ${filter}`, { ...entry, stream });
    return kept ? labels.get('__error__') : 'dropped';
  };
  t.is(errorOf('(took > 1s and size < 1GB) or n="0"'), 'LabelFilterErr');
  t.is(errorOf('(size < 1GB and took > 1s) or n="0"'), 'LabelFilterErr');
  t.is(errorOf('(took > 1s and (n="0" or size < 1GB)) or n="0"'), '');
  t.is(errorOf('(took > 1s and (n="1" or size < 1GB)) or n="0"'), 'LabelFilterErr');
  t.is(errorOf('took > 1s and size < 1GB'), 'dropped');
  t.is(errorOf('n="0" or size < 1GB'), '');
});

test('an invalid address inside of a larger label filter lets no line pass', (t) => {
  t.false(keeps('| (v!=ip("nowhere") or v="")', '10.0.0.1'));
  t.true(keeps('| (v!=ip("10.0.0.2") or v="")', '10.0.0.1'));
});

test('an error of a line filter names all filters that run together, the last of which is made first', (t) => {
  const faultOf = (stages: string): string =>
    t.throws(() => {
      checkStages(parseQuery(`{app="x"} ${stages}`));
    }).message;
  t.is(
    faultOf('!~ ip("nowhere") |= "x" or "y"'),
    `parse error : stage '!~ ip("nowhere") |= "x" or "y"' : ip: invalid operation`,
  );
  t.is(
    faultOf('|~ "a(" | json |= "b" |~ "c["'),
    `parse error : stage '|~ "a(" |= "b" |~ "c["' : error parsing regexp: missing closing ]: \`[\``,
  );
  t.is(
    faultOf('|~ "a(" | v="b" |~ "c["'),
    `parse error : stage '|~ "a("' : error parsing regexp: missing closing ): \`a(\``,
  );
});

test('a long pattern is taken apart once, however often it is asked for', (t) => {
  const pattern = `a${'b'.repeat(1_000)}|c`;
  const first = simplifiedRegexp(pattern, true);
  t.deepEqual(
    first?.map(({ kind }) => kind),
    ['equals', 'equals'],
  );
  t.is(simplifiedRegexp(pattern, true), first);
  t.is(simplifiedRegexp(pattern, false)?.at(0)?.kind, 'contains');
});
