import { compileRegExp } from '../regexp/index.js';
import { containsOne, equalsOne } from '../regexp/plain-texts.js';
import type { FilterTest, Meaning } from './filter-meaning.js';
import { compileIpFilter } from './line-filter-ip.js';
import { compilePatternFilter } from './line-filter-pattern.js';
import type { Meter } from './meter.js';
import { anyCasePattern } from './text-in-any-case.js';

/** Whether a text, a line or a label's value, passes a filter. */
export type TextTest = (text: string) => boolean;

/** Nanoseconds per character of the text, and per text or per character of the texts that are looked for. */
const textCost = 1;
const manyTextsCost = 20;

/** Compiles what a filter asks of a text. */
export function compileMeaning({ tests, isNegated }: Meaning, meter: Meter): TextTest {
  const compiled = [...compileTextTests(tests, meter), ...compileOthers(tests, meter)];
  const [first = never, ...others] = compiled;
  const any: TextTest =
    others.length === 0 ? first : (text) => first(text) || others.some((test) => test(text));
  return isNegated ? (text) => !any(text) : any;
}

const never: TextTest = () => false;

/** Texts of one kind are looked for together. */
function compileTextTests(tests: readonly FilterTest[], meter: Meter): readonly TextTest[] {
  const groups = new Map<string, { kind: 'contains' | 'equals'; ignoresCase: boolean; texts: string[] }>();
  for (const test of tests) {
    if (test.kind !== 'contains' && test.kind !== 'equals') continue;
    const { kind, ignoresCase, text } = test;
    const key = `${kind} ${ignoresCase}`;
    const known = groups.get(key);
    if (known === undefined) groups.set(key, { kind, ignoresCase, texts: [text] });
    else known.texts.push(text);
  }
  return [...groups.values()].map(({ kind, ignoresCase, texts }) =>
    compileTexts(kind, ignoresCase, texts, meter),
  );
}

function compileOthers(tests: readonly FilterTest[], meter: Meter): readonly TextTest[] {
  return tests.flatMap((test): TextTest | readonly TextTest[] => {
    switch (test.kind) {
      case 'all':
        return () => true;
      case 'not-empty':
        return (text) => text !== '';
      case 'regexp':
        return compilePattern(test.pattern, test.anchored, meter);
      case 'pattern':
        return compilePatternFilter(test.value, meter);
      case 'ip':
        return compileIpFilter(test.value, meter);
      case 'contains':
      case 'equals':
        return [];
    }
  });
}

function compileTexts(
  kind: 'contains' | 'equals',
  ignoresCase: boolean,
  texts: readonly string[],
  meter: Meter,
): TextTest {
  if (ignoresCase) return compileTextsInAnyCase(kind, texts, meter);
  const [only = ''] = texts;
  if (kind === 'equals' && texts.length === 1) return (text) => text === only;
  const test = kind === 'equals' ? equalsOne(texts) : containsOne(texts);
  const cost = kind === 'equals' ? 0 : texts.length === 1 ? textCost : manyTextsCost;
  return (text) => {
    meter.charge(cost * text.length);
    return test(text) === true;
  };
}

/** V8 looks for alternatives of plain texts in time that is linear in the text. */
function compileTextsInAnyCase(
  kind: 'contains' | 'equals',
  texts: readonly string[],
  meter: Meter,
): TextTest {
  const source = texts.map(anyCasePattern).join('|');
  const compiled = new RegExp(kind === 'equals' ? `^(?:${source})$` : source, 'u');
  const cost = textCost * texts.reduce((sum, { length }) => sum + length, 0);
  // Loki compares the sizes first: letters whose cases differ in size are no equals.
  const sizes = kind === 'equals' ? new Set(texts.map((text) => Buffer.byteLength(text))) : undefined;
  return (text) => {
    meter.charge(cost * text.length);
    return compiled.test(text) && (sizes === undefined || sizes.has(Buffer.byteLength(text)));
  };
}

function compilePattern(pattern: string, anchored: boolean, meter: Meter): TextTest {
  const compiled = compileRegExp(pattern, { anchored });
  return (text) => {
    meter.charge(compiled.testCost * text.length);
    return compiled.test(text);
  };
}
