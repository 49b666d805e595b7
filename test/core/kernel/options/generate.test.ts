import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { generateFiles } from '../../../../core/kernel/options/generate.js';
import { generateTypes } from '../../../../core/kernel/options/generate-types.js';
import { builtInDefinitions, helpText, packageRoot } from '../../../../core/kernel/options/index.js';

test('the committed generated files are what the schemas give; `npm run generate` renews them', async (t) => {
  const files = await generateFiles();
  t.true(files.has('docs/flags.md'));
  for (const [path, content] of files) {
    t.is(readFileSync(join(packageRoot(), path), 'utf8'), content, `${path} is stale`);
  }
});

test('types: durations are numbers, defaults make members sure to be there, nothing can be changed', async (t) => {
  const text = await generateTypes(
    new Map([
      [
        'demo',
        {
          title: 'DemoOptions',
          type: 'object',
          properties: {
            ttl: { type: 'string', format: 'duration', default: '1s', description: 'Time.' },
            names: { type: 'array', items: { type: 'string' }, description: 'Names.' },
            mode: { type: 'string', enum: ['a', 'b'], default: 'a', description: 'Mode.' },
          },
          additionalProperties: false,
        },
      ],
    ]),
  );
  t.regex(text, /export interface DemoOptions \{/);
  t.regex(text, /Time\. \(milliseconds\)/);
  t.regex(text, /^ {2}readonly ttl: number;$/m);
  t.regex(text, /^ {2}readonly names\?: readonly string\[\];$/m);
  t.regex(text, /^ {2}readonly mode: 'a' \| 'b';$/m);
});

test('help shows every flag once, under the name of its section or plugin', async (t) => {
  const definitions = builtInDefinitions();
  const text = await helpText(definitions, {
    usage: 'ref-proxy serve [flags]',
    own: [{ name: 'pipeline', kind: 'string', description: 'Pipeline file.' }],
  });
  t.true(text.startsWith('ref-proxy serve [flags]'));
  const shown = [...text.matchAll(/^ {2}-{1,2}([a-z][\w.-]*)/gm)].map((match) => match[1]);
  const flags = definitions.flatMap(({ flag }) => (flag === undefined ? [] : [flag]));
  t.deepEqual(shown.sort(), ['pipeline', ...flags].sort());
  for (const owner of ['server', 'backend', 'tier0']) t.regex(text, new RegExp(`^${owner}:$`, 'm'));
});
