import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import test from 'ava';
import { parse } from 'yaml';
import { packageRoot, readBuiltInSchemas } from '../../../../core/kernel/options/index.js';

const root = packageRoot();
const schemaText = readFileSync(join(root, 'schemas', 'pipeline.schema.json'), 'utf8');

/** As an editor does: schemas by file name, beside each other; formats and our own marks are left alone. */
function editorValidator(): (value: unknown) => boolean {
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  for (const [name, schema] of readBuiltInSchemas(root)) ajv.addSchema(schema, `${name}.schema.json`);
  const validate = ajv.compile(JSON.parse(schemaText) as object);
  return (value) => validate(value);
}

const shipped = readdirSync(join(root, 'pipelines')).filter((name) => name.endsWith('.yaml'));

/** What an editor sees when references are filled in. */
const withoutReferences = (text: string): string => text.replaceAll(/\$\{\w+:-([^}]*)\}/g, '$1');

for (const name of shipped) {
  test(`the editor's schema accepts pipelines/${name}`, (t) => {
    const text = readFileSync(join(root, 'pipelines', name), 'utf8');
    t.true(editorValidator()(parse(withoutReferences(text))));
    t.true(text.startsWith('# yaml-language-server: $schema=../schemas/pipeline.schema.json\n'));
  });
}

test("the editor's schema refuses an unknown option of a plugin and of a section", (t) => {
  const isValid = editorValidator();
  const whole = { version: 1, stages: [{ use: 'guard', with: { maxConcurrent: 1 } }], endpoints: [] };
  t.true(isValid(whole));
  t.false(isValid({ ...whole, stages: [{ use: 'guard', with: { brust: 1 } }] }));
  t.false(isValid({ ...whole, server: { lisen: ':1' } }));
});

test('the schema of the file knows the options of every built-in plugin', (t) => {
  for (const name of readBuiltInSchemas(root).keys())
    t.true(schemaText.includes(`"${name}.schema.json"`), name);
});
