import { mkdtempSync, mkdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { packageRoot } from '../../../../core/kernel/options/index.js';
import {
  loadPlugin,
  packageBuiltIns,
  type PluginLoad,
} from '../../../../core/kernel/pipeline/load-plugin.js';
import { checkText, fakeBuiltIns, minimalStages, pipelineOf, places } from '../check/fake-built-ins.js';

const folder = join(packageRoot(), 'test', 'data', 'pipelines');
const load = (use: string): Promise<PluginLoad> => loadPlugin(use, folder, fakeBuiltIns);

const service = (name: string): string =>
  `export default { kind: 'service', name: '${name}', summary: 's', create: () => ({}) };`;

/** A folder with these packages installed. */
function siteWithPackages(packages: Readonly<Record<string, object>>): string {
  const site = mkdtempSync(join(tmpdir(), 'ref-proxy-site-'));
  for (const [name, manifest] of Object.entries(packages)) {
    const root = join(site, 'node_modules', name);
    mkdirSync(root, { recursive: true });
    writeFileSync(join(root, 'package.json'), JSON.stringify({ name, type: 'module', ...manifest }));
    writeFileSync(join(root, 'main.js'), service(name));
  }
  return site;
}

test('a bare name is a built-in plugin', async (t) => {
  t.like(await load('guard'), { kind: 'loaded', plugin: { name: 'guard' } });
});

test('a path is a module, from the folder of the file; endings and the index of a folder are found', async (t) => {
  for (const use of [
    './plugins/add-matcher.js',
    './plugins/add-matcher',
    join(folder, 'plugins/add-matcher.js'),
  ]) {
    t.like(await load(use), { kind: 'loaded', plugin: { name: 'add-matcher' } }, use);
  }
  t.like(await load('./plugins/folder'), { kind: 'loaded', plugin: { name: 'in-a-folder' } });
});

test('anything else is an npm package, as it is installed where the file stands', async (t) => {
  const site = siteWithPackages({
    'with-main': { main: './main.js' },
    '@site/scoped': { main: './main.js' },
    'import-only': { exports: { '.': { import: './main.js' } } },
  });
  for (const use of ['with-main', '@site/scoped', 'import-only']) {
    t.like(await loadPlugin(use, site, fakeBuiltIns), { kind: 'loaded', plugin: { name: use } }, use);
  }
});

test('a module of Node and a name that is none are unknown plugins', async (t) => {
  for (const use of ['fs', 'node:fs', 'no such thing', 'https://example.org/x.js', '@', '..']) {
    t.is((await load(use)).kind, 'unknown', use);
  }
});

const broken: readonly (readonly [use: string, message: RegExp])[] = [
  ['./plugins/half.js', /does not export a valid plugin: it has no create function/],
  ['./plugins/throws.js', /cannot be loaded: no luck today/],
  ['./plugins/no-default.js', /has no default export that is a plugin/],
  ['./plugins/bad-schema.js', /has an invalid options schema/],
];
const loadsTypeScript =
  ((process.features as { readonly typescript?: unknown }).typescript ?? false) !== false;

for (const [use, message] of broken) {
  test(`a module that is no plugin is told apart: ${use}`, async (t) => {
    const result = await load(use);
    t.is(result.kind, 'broken');
    if (result.kind === 'broken') t.regex(result.message, message);
    const findings = await checkText(pipelineOf([use, ...minimalStages]), {
      path: join(folder, 'site.yaml'),
    });
    t.deepEqual(places(findings), ['R021 3:10']);
  });
}

test('a module in TypeScript is loaded where Node.js can do that, and elsewhere told what to do', async (t) => {
  const site = mkdtempSync(join(tmpdir(), 'ref-proxy-site-'));
  writeFileSync(join(site, 'package.json'), '{"type":"module"}');
  const code = service('typed').replace('() =>', '(options: object) =>');
  writeFileSync(join(site, 'typed.ts'), code);
  writeFileSync(join(site, 'enum.ts'), `enum Colour { Red }\n${code}`);
  const [typed, withEnum] = await Promise.all(
    ['./typed.ts', './enum.ts'].map((use) => loadPlugin(use, site, fakeBuiltIns)),
  );
  if (loadsTypeScript) {
    t.like(typed, { kind: 'loaded', plugin: { name: 'typed' } });
    t.true(withEnum?.kind === 'broken' && withEnum.fix?.includes('without enums') === true);
  } else {
    for (const load of [typed, withEnum])
      t.true(load?.kind === 'broken' && /is TypeScript, which Node.js/.test(load.message));
  }
});

test('a module that cannot find this package is told how to', async (t) => {
  const site = mkdtempSync(join(tmpdir(), 'ref-proxy-site-'));
  writeFileSync(join(site, 'stage.mjs'), "import { defineStage } from 'ref-proxy/plugin';\n");
  const result = await loadPlugin('./stage.mjs', site, fakeBuiltIns);
  t.true(result.kind === 'broken' && result.fix?.startsWith('run npm install') === true);
});

test('a module of a package of the old form is told how to become one of the new', async (t) => {
  const site = mkdtempSync(join(tmpdir(), 'ref-proxy-site-'));
  writeFileSync(join(site, 'package.json'), '{"type":"commonjs"}');
  writeFileSync(join(site, 'stage.js'), "import { join } from 'node:path';\nexport default join;\n");
  const result = await loadPlugin('./stage.js', site, fakeBuiltIns);
  t.true(result.kind === 'broken' && result.fix?.includes('"type": "module"') === true);
});

test('an option that a site plugin requires and nobody gives is missing at the plugin', async (t) => {
  const text = pipelineOf(['./plugins/add-matcher.js', ...minimalStages]);
  const findings = await checkText(text, { path: join(folder, 'site.yaml') });
  t.deepEqual(places(findings), ['R009 3:10']);
});

test('a required option whose reference has no value is not missing as well', async (t) => {
  const stage = './plugins/add-matcher.js\n    with: {label: "${NOWHERE}"}';
  const findings = await checkText(pipelineOf([stage, ...minimalStages]), {
    path: join(folder, 'site.yaml'),
  });
  t.deepEqual(places(findings), ['R005 4:19']);
});

test('every folder of plugins/ is a built-in', (t) => {
  const { names, schemas } = packageBuiltIns();
  t.true(names.includes('backend'));
  for (const name of names) t.true(schemas.has(name), `schemas/${name}.schema.json is missing`);
});
