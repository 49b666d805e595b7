import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import test from 'ava';
import { parse } from 'yaml';
import { packageRoot, readBuiltInSchemas } from '../../../../core/kernel/options/index.js';

const root = packageRoot();
const schemaText = readFileSync(join(root, 'schemas', 'pipeline.schema.json'), 'utf8');

/** Validates like an editor, which does not know the proxy's own formats. */
const isValid: (value: unknown) => boolean = new Ajv2020({ strict: false, validateFormats: false }).compile(
  JSON.parse(schemaText) as object,
);

const shipped = readdirSync(join(root, 'pipelines')).filter((name) => name.endsWith('.yaml'));

for (const name of shipped) {
  test.serial(`the editor's schema accepts pipelines/${name}`, (t) => {
    const text = readFileSync(join(root, 'pipelines', name), 'utf8');
    t.true(isValid(parse(text)));
    t.true(text.startsWith('# yaml-language-server: $schema=../schemas/pipeline.schema.json\n'));
  });
}

test.serial("the editor's schema refuses an unknown option of a plugin and of a section", (t) => {
  const whole = { version: 1, stages: [{ use: 'guard', with: { maxConcurrent: 1 } }], endpoints: [] };
  t.true(isValid(whole));
  t.false(isValid({ ...whole, stages: [{ use: 'guard', with: { brust: 1 } }] }));
  t.false(isValid({ ...whole, server: { lisen: ':1' } }));
});

test.serial(
  'the schema for editors has every plugin by name, and every option with its meaning, its default and its flag',
  (t) => {
    const { $defs } = JSON.parse(schemaText) as {
      readonly $defs: Readonly<
        Record<
          string,
          {
            readonly properties: Readonly<
              Record<string, { readonly description: string; readonly default?: unknown }>
            >;
          }
        >
      >;
    };
    for (const [name, { properties = {} }] of readBuiltInSchemas(root)) {
      t.true(
        (/"anyOf":/.test(schemaText) && schemaText.includes(`"const": "${name}"`)) ||
          $defs[name] !== undefined,
        name,
      );
      for (const [key, option] of Object.entries(properties)) {
        const shown = $defs[name]?.properties[key];
        t.true(shown?.description.startsWith(option.description ?? ''), `${name}.${key}`);
        t.deepEqual(shown?.default, option.default);
        if (option['x-flag'] !== undefined) t.true(shown?.description.includes(`-${option['x-flag']}`));
      }
    }
  },
);

const entry = (use: string, options: object): object => ({
  version: 1,
  stages: [{ use, with: options }],
  endpoints: [{ use: 'reference-api' }],
});
for (const [what, options, isFine] of [
  ['a duration', { timeout: '1h30m' }, true],
  ['a duration without a unit', { timeout: '30' }, false],
  ['an address', { url: 'https://logs:9428' }, true],
  ['an address without a scheme', { url: 'logs:9428' }, false],
  ['a number', { maxConcurrent: 5 }, true],
  ['a number as a text', { maxConcurrent: '5' }, false],
  ['a reference in the place of a number', { maxConcurrent: '${MAX:-5}' }, true],
  ['a reference as a part of an address', { url: 'http://${HOST}:9428' }, true],
  ['a word of a choice', { compression: 'gzip' }, true],
  ['another word', { compression: 'brotli' }, false],
] as const)
  test.serial(`the schema for editors ${isFine ? 'takes' : 'refuses'} ${what}`, (t) => {
    t.is(isValid(entry('backend', options)), isFine);
  });
