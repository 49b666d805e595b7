import { readFileSync } from 'node:fs';
import test from 'ava';
import { evaluateEntry, LabelSet, LogqlError, parseQuery } from '../../../core/logql/index.js';

const door = new URL('../../../core/logql/index.js', import.meta.url).href;
const documents = ['docs/logql.md', 'core/logql/README.md'];
const examples = documents.flatMap((document) =>
  [...readFileSync(document, 'utf8').matchAll(/^```js\n(?<code>[\s\S]*?)^```$/gm)].map(
    ({ groups }, index) => ({
      title: `example ${index + 1} of ${document}`,
      code: groups?.['code'] ?? '',
    }),
  ),
);

/** The lines that a code example prints. */
async function printedBy(code: string): Promise<readonly string[]> {
  const recorded = `import { format } from 'node:util';
export const printed = [];
const console = { log: (...values) => printed.push(format(...values)) };
${code.replace("'ref-proxy/logql'", JSON.stringify(door))}`;
  const module = (await import(`data:text/javascript,${encodeURIComponent(recorded)}`)) as {
    readonly printed: readonly string[];
  };
  return module.printed;
}

for (const { title, code } of examples) {
  test(`${title} prints what stands below`, async (t) => {
    const said = [...code.matchAll(/^\/\/ (?<text>.*)$/gm)].map(({ groups }) => groups?.['text']);
    t.true(said.length > 0);
    t.deepEqual(await printedBy(code), said);
  });
}

test('the documents of the library have their examples', (t) => {
  t.is(examples.length, 5);
});

test('an entry has its labels as records or as sets, and needs no more than a stream and a line', (t) => {
  const query = '{app="shop"} | trace!="" | line_format "{{.trace}}{{__timestamp__ | unixEpoch}}"';
  const stream = { app: 'shop', gone: '' };
  const asRecords = evaluateEntry(query, {
    stream,
    structuredMetadata: { trace: 'a' },
    timestampNs: 5_000_000_000n,
    line: 'b',
  });
  t.is(asRecords.line, 'a5');
  t.is(asRecords.labels.json, '{"app":"shop","trace":"a"}');
  const asSets = evaluateEntry(query, {
    stream: LabelSet.from([['app', 'shop']]),
    structuredMetadata: LabelSet.from([['trace', 'a']]),
    timestampNs: 5_000_000_000n,
    line: 'b',
  });
  t.deepEqual(asSets, asRecords);
  t.false(evaluateEntry(query, { stream, line: 'b' }).kept);
  t.true(evaluateEntry('{app="shop", gone=""}', { stream, line: 'b' }).kept);
  t.false(evaluateEntry('{__proto__!=""}', { stream, line: 'b' }).kept);
});

test('a stage that cannot be built is told as Loki tells it, whether or not the entry reaches it', (t) => {
  const fault = `parse error : stage '| label_format a="{{"' : invalid template for label 'a': template: label:1: unclosed action`;
  for (const app of ['shop', 'other']) {
    for (const query of [
      '{app="shop"} | label_format a="{{"',
      'rate({app="shop"} | label_format a="{{" [1m])',
    ]) {
      const error = t.throws(() => evaluateEntry(parseQuery(query), { stream: { app }, line: '' }), {
        instanceOf: LogqlError,
      });
      t.is(error.message, fault);
    }
  }
});
