import test from 'ava';
import { isRelevantLabel } from '../../../../core/engine/fields/id-like.js';

const uuid = '0f8b1a52-6c1e-4b7e-9b1a-3b1a2c3d4e5f';

test('labels whose values are all numbers or UUIDs are not worth showing', (t) => {
  t.false(isRelevantLabel('request', [uuid, '42', '1.5', uuid.replaceAll('-', ''), `{${uuid}}`]));
  t.true(isRelevantLabel('request', [uuid, 'checkout']));
});

test('cluster, namespace, instance and pod are shown whatever they hold', (t) => {
  for (const label of ['cluster', 'namespace', 'instance', 'pod'])
    t.true(isRelevantLabel(label, ['1', uuid]));
  t.false(isRelevantLabel('node', ['1']));
});
