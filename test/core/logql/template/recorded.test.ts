import { readFileSync } from 'node:fs';
import test from 'ava';
import { TemplateSyntaxError } from '../../../../core/logql/index.js';
import { templateFunctions } from '../../../../core/logql/template/library/table.js';
import { render } from './render.js';

/** Inputs of all recorded templates: the first line of the file. */
interface Inputs {
  readonly labels: Readonly<Record<string, string>>;
  readonly line: string;
  readonly ts: string;
}

/** Go's result for a template: a text, a runtime error, or a syntax error. */
interface Recorded {
  readonly template: string;
  readonly text?: string;
  readonly error?: string;
  readonly syntax?: string;
}

const [first = '', ...rest] = readFileSync('test/data/logql/go-format.jsonl', 'utf8').trimEnd().split('\n');
const inputs = JSON.parse(first) as Inputs;
// The file holds one object of this shape per line after the first.
const recordings = rest.map((line) => JSON.parse(line) as Recorded);

function outcome(template: string): Omit<Recorded, 'template'> {
  try {
    return render(template, inputs.labels, inputs.line, BigInt(inputs.ts));
  } catch (error) {
    if (error instanceof TemplateSyntaxError) return { syntax: error.message };
    throw error;
  }
}

test('templates give what Go gives, errors and odd formats included', (t) => {
  for (const { template, ...expected } of recordings) t.deepEqual(outcome(template), expected, template);
});

test('the recordings are complete and hold every function', (t) => {
  t.is(recordings.length, 2237);
  const all = recordings.map(({ template }) => template).join('\n');
  for (const name of templateFunctions) t.regex(all, new RegExp(`\\b${name}\\b`), name);
});
