import test from 'ava';
import fc from 'fast-check';
import { parse } from 'yaml';
import { formatPipeline } from '../../../core/tools/format-yaml.js';

test.serial('a pipeline in any layout gets the one form, with every comment', (t) => {
  const messy = `# a site
stages:
- {use: tenancy} # first


# who may ask
- with: {rates: [1,2],
     maxConcurrent: 5}   # five
  use: guard
  id: "front"
endpoints: [ {use:   reference-api} ]
version:   1
`;
  t.is(
    formatPipeline(messy),
    `# a site
version: 1
stages:
  - { use: tenancy } # first

  # who may ask
  - use: guard
    id: "front"
    with: { rates: [1, 2], maxConcurrent: 5 } # five
endpoints: [{ use: reference-api }]
`,
  );
});

const comment = fc.constantFrom('', '# why', '  # with: { x: 1 }', '#');
const name = fc.constantFrom('tenancy', '"guard"', "'./x.js'", '${STAGE:-tier0}', '"a: b"');
const option = fc.constantFrom(
  'a: 1',
  'b: [1,2,  3]',
  'c: {d: {e: "f"}}',
  'g: |\n        text\n         more',
  'h:',
  'i: &x {j: 1}',
);
const entry = fc
  .tuple(name, fc.uniqueArray(option, { maxLength: 4 }), comment, comment, fc.boolean(), fc.nat(2))
  .map(([use, options, before, behind, isIdFirst, blank]) => {
    const body = options.length === 0 ? [] : ['    with:', ...options.map((text) => `      ${text}`)];
    const lines = [`  - ${isIdFirst ? 'id: one\n    ' : ''}use: ${use} ${behind}`, ...body];
    return [
      ...Array.from({ length: blank }, () => ''),
      ...(before === '' ? [] : [`  ${before}`]),
      ...lines,
    ].join('\n');
  });
const file = fc
  .tuple(
    fc.array(entry, { minLength: 1, maxLength: 5 }),
    fc.array(entry, { minLength: 1, maxLength: 2 }),
    comment,
    comment,
    fc.boolean(),
  )
  .map(([stages, endpoints, head, foot, isVersionLast]) => {
    const lists = `stages:\n${stages.join('\n')}\nendpoints:\n${endpoints.join('\n')}`;
    return `${head}\n${isVersionLast ? `${lists}\nversion: 1` : `version: 1\n${lists}`}\n${foot}\n`;
  });

function commentsOf(text: string): readonly string[] {
  return (text.match(/#(?: [a-z].*| *)$/gm) ?? []).map((each) => each.trim()).sort();
}

test.serial('formatting says the same, keeps every comment, and changes nothing the second time', (t) => {
  fc.assert(
    fc.property(file, (text) => {
      const once = formatPipeline(text);
      t.is(formatPipeline(once), once);
      t.deepEqual(parse(once, { uniqueKeys: false }), parse(text, { uniqueKeys: false }));
      t.deepEqual(commentsOf(once), commentsOf(text));
    }),
    { numRuns: 300, endOnFailure: true },
  );
});
