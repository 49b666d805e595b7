import test from 'ava';
import { changedFile } from '../../../mutations/made.js';
import { brokenPlugins, type Case } from './broken-plugins.js';
import { checked, started, withSite } from './site.js';

test('there are enough broken plugins', (t) => {
  t.true(brokenPlugins.filter(({ outcome }) => outcome !== 'runs').length >= 60);
});

const saying = ({ says }: Case): RegExp => says ?? /(?:)/;

for (const each of brokenPlugins.filter(({ outcome }) => outcome === 'check'))
  test(`check and start refuse alike: ${each.title}`, (t) =>
    withSite(each, async (file) => {
      t.regex((await checked(file)).join('\n'), saying(each));
      t.is(typeof (await started(file)), 'string');
    }));

for (const each of brokenPlugins.filter(({ outcome }) => outcome === 'start'))
  test(`the start names what only it can see: ${each.title}`, (t) =>
    withSite(each, async (file) => {
      t.deepEqual(await checked(file), []);
      const error = await started(file);
      if (typeof error !== 'string') return t.fail('it starts');
      t.regex(error, saying(each));
      t.regex(error, /pipeline\.yaml:\d+:\d+/);
      return undefined;
    }));

for (const each of brokenPlugins.filter(({ outcome }) => outcome === 'request'))
  test(`a request names what broke its word: ${each.title}`, (t) =>
    withSite(each, async (file) => {
      t.deepEqual(await checked(file), []);
      const asked = await started(file, each.path);
      if (typeof asked === 'string') return t.fail(asked);
      const kind = each.path === undefined ? 'stage' : 'endpoint';
      t.is(asked.status, 500);
      t.regex(asked.text, new RegExp(`"internal error in ${kind} \\\\"odd\\\\" \\(plugin \\\\"odd\\\\"\\)"`));
      t.notRegex(asked.text, /odd\.mjs|\bat /);
      t.true(asked.metrics.includes(`ref_proxy_plugin_defects_total{kind="${kind}",plugin="odd"} 1`));
      const record = asked.records.find((one) => one.get('body') === 'request failed');
      t.regex(String(record?.get('error.message')), saying(each));
      t.is(record?.get('plugin.id'), 'odd');
      t.regex(String(record?.get('plugin.at')), /pipeline\.yaml:\d+:\d+$/);
      return undefined;
    }));

for (const each of brokenPlugins.filter(({ outcome }) => outcome === 'runs'))
  test(`what passes the checker starts and answers: ${each.title}`, (t) =>
    withSite(each, async (file) => {
      t.deepEqual(await checked(file), []);
      const asked = await started(file, each.path);
      t.is(typeof asked === 'string' ? asked : asked.status, 200);
    }));

test('changed pipeline files start when they pass the checker, and only then', async (t) => {
  const counts = { started: 0, refused: 0 };
  for (let step = 0; step < 60; step += 1) {
    const { text, kind } = changedFile(18, step);
    // The embedded backend uses a fixed port and starts slowly.
    if (text.includes('embedded-backend')) continue;
    await withSite({ pipeline: text }, async (file) => {
      const findings = await checked(file);
      const asked = await started(file, '/livez');
      t.is(typeof asked === 'string', findings.length > 0, `${kind}: ${JSON.stringify([findings, asked])}`);
      counts[findings.length > 0 ? 'refused' : 'started'] += 1;
    });
  }
  t.true(counts.started >= 5 && counts.refused >= 20, JSON.stringify(counts));
});
