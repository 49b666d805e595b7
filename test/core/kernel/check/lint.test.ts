import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { loadPipeline } from '../../../../core/kernel/pipeline/load.js';
import { packageBuiltIns } from '../../../../core/kernel/pipeline/load-plugin.js';
import { describedRules } from '../../../../core/kernel/check/described-rules.js';
import type { LintRule, Plugin } from '../../../../core/plugin/index.js';
import { checkText, minimalStages, pipelineOf, places } from './fake-built-ins.js';

/** The source of a site's module: a stage with a schema and rules. */
function siteStage(lint: string): string {
  return `export default {
  kind: 'stage', name: 'only-prod', summary: 'Lets queries see production only.',
  needs: [], gives: [], rest: 'once', behindCaches: true,
  schema: {
    type: 'object',
    properties: {
      regions: { type: 'object', additionalProperties: { type: 'string' } },
      least: { type: 'integer', default: 1, 'x-not-above': 'most' },
      most: { type: 'integer', default: 5 },
      strict: { type: 'boolean', default: false, 'x-flag': 'only-prod-strict' },
    },
    additionalProperties: false,
  },
  lint: ${lint},
  create: () => ({ handle: (exchange, rest) => rest(exchange) }),
};`;
}

const regionRule = `[{
  id: 'region',
  title: 'a region is known',
  severity: 'error',
  docs: 'Regions are eu and us.',
  check(file) {
    const regions = file.own('regions');
    const found = Object.entries(regions.value ?? {})
      .filter(([, name]) => name !== 'eu' && name !== 'us')
      .map(([team, name]) => ({ at: regions.within([team]), message: \`region \${name} is not known\`, fix: 'write eu or us' }));
    const strict = file.own('strict');
    const stages = file.stages.map(({ plugin }) => plugin).join(' ');
    if (strict.value === true && file.flag('label-style')?.isGiven === false)
      found.push({ at: strict.at, message: \`\${strict.name} needs a label style among \${stages}\`, fix: \`set \${strict.ways} to false\` });
    return found;
  },
}]`;

function site(lint: string): { readonly path: string } {
  const folder = mkdtempSync(join(tmpdir(), 'ref-proxy-lint-'));
  writeFileSync(join(folder, 'only-prod.mjs'), siteStage(lint));
  return { path: join(folder, 'site.yaml') };
}

test("a site plugin's rule tells line and column inside of a value, under the plugin's name", async (t) => {
  const text = pipelineOf([
    './only-prod.mjs\n    with:\n      regions:\n        a: eu\n        b: mars',
    ...minimalStages,
  ]);
  const findings = await checkText(text, site(regionRule));
  t.deepEqual(places(findings), ['only-prod/region 7:12']);
  t.like(findings[0], { severity: 'error', message: 'region mars is not known', fix: 'write eu or us' });
});

test("a site plugin's rule sees other options and stages, and names a flag as the operator gave it", async (t) => {
  const text = pipelineOf(['./only-prod.mjs', ...minimalStages]);
  const flags = { 'only-prod-strict': 'true' };
  const [finding] = await checkText(text, { ...site(regionRule), flags });
  t.is(
    finding?.message,
    'flag -only-prod-strict needs a label style among only-prod tenancy translate backend response-shape',
  );
  t.is(finding?.fix, 'set strict (-only-prod-strict) to false');
  t.is(finding?.at.given, 'flag -only-prod-strict');
  t.deepEqual(
    await checkText(text, { ...site(regionRule), flags: { ...flags, 'label-style': 'underscores' } }),
    [],
  );
});

test('a finding without a position points at the entry of the plugin', async (t) => {
  const rule = `[{ id: 'any', title: 'a', severity: 'warning', docs: 'a', check: () => [{ message: 'so it is' }] }]`;
  const findings = await checkText(pipelineOf(['./only-prod.mjs', ...minimalStages]), site(rule));
  t.deepEqual(places(findings), ['only-prod/any 3:10']);
  t.like(findings[0], { severity: 'warning', message: 'so it is' });
});

test('rules of a plugin that is disabled are silent', async (t) => {
  const entry = './only-prod.mjs\n    enabled: false\n    with: {regions: {b: mars}}';
  t.deepEqual(await checkText(pipelineOf([entry, ...minimalStages]), site(regionRule)), []);
});

test('x-not-above in the schema of a site plugin is a finding at the option that was set', async (t) => {
  const text = pipelineOf(['./only-prod.mjs\n    with: {least: 9}', ...minimalStages]);
  const findings = await checkText(text, site('[]'));
  t.deepEqual(places(findings), ['R046 4:19']);
  t.is(findings[0]?.message, 'least is above most');
});

test('an error of a site plugin rule refuses the start; one that throws is named', async (t) => {
  const throwing = `[{ id: 'region', title: 'a', severity: 'warning', docs: 'a', check() { throw new Error('no luck'); } }]`;
  const { path } = site(throwing);
  writeFileSync(path, pipelineOf(['./only-prod.mjs', ...minimalStages]));
  const { pipeline, findings } = await loadPipeline(path, { flags: new Map(), env: {} });
  t.is(pipeline, undefined);
  t.deepEqual(places(findings), ['only-prod/region 3:10']);
  t.is(findings[0]?.message, 'the rule "region" of plugin "./only-prod.mjs" failed: no luck');
});

test('a lint that is no list of rules makes the module no plugin', async (t) => {
  const findings = await checkText(
    pipelineOf(['./only-prod.mjs', ...minimalStages]),
    site(`[{ id: 'region' }]`),
  );
  t.deepEqual(places(findings), ['R021 3:10']);
  t.regex(findings[0]?.message ?? '', /its lint is not a list of rules/);
});

test('the rules that docs/checker.md lists of plugins are those that the plugins declare', async (t) => {
  const builtIns = packageBuiltIns();
  // The default export of a built-in is a plugin; other tests check this.
  const plugins = (await Promise.all(builtIns.names.map((name) => builtIns.load(name)))) as readonly Plugin[];
  const declared = plugins.flatMap(({ lint = [] }): readonly LintRule[] => lint);
  const all = await describedRules();
  t.true(declared.length > 4);
  for (const { id, title, docs, severity } of declared)
    t.like(
      all.find((rule) => rule.id === id),
      { title, docs, severity, tier: 'meaning' },
      id,
    );
  const own = all.filter(({ id }) => !declared.some((rule) => rule.id === id));
  t.true(own.length > 30);
});
