import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { packageRoot } from '../../core/kernel/options/index.js';
import { writeTable } from './document.js';
import { features } from './features.js';
import { Stage } from './stage.js';

let stage: Stage | undefined;

test.before(async () => {
  stage = await Stage.open({ backendUrl: process.env['BACKEND_URL'] });
});

test.after.always(async () => {
  await stage?.close();
});

for (const feature of features) {
  // Serial, so that each test counts only its own requests.
  test.serial(`${feature.client}: ${feature.feature}`, async (t) => {
    const sent = await stage?.play(feature);
    t.true(sent !== undefined && sent.count > 0);
  });
}

test.serial('docs/clients.md holds the table of this suite', (t) => {
  const text = readFileSync(join(packageRoot(), 'docs', 'clients.md'), 'utf8');
  t.is(writeTable(text, features), text, 'run: npm run clients -- --write');
});

test.serial('every feature is named once', (t) => {
  const names = features.map(({ client, feature }) => `${client}: ${feature}`);
  t.deepEqual(
    names.filter((name, index) => names.indexOf(name) !== index),
    [],
  );
});
