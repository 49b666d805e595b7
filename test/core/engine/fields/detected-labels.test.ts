import test from 'ava';
import { isRelevantLabel } from '../../../../core/engine/fields/detected-labels.js';

const uuid = '0f8b1a52-6c1e-4b7e-9b1a-3b1a2c3d4e5f';

test('labels whose values are all numbers or UUIDs are not worth showing', (t) => {
  t.false(isRelevantLabel('request', new Set([uuid, '42', '1.5', uuid.replaceAll('-', ''), `{${uuid}}`])));
  t.true(isRelevantLabel('request', new Set([uuid, 'checkout'])));
  t.true(isRelevantLabel('request', new Set([uuid.replace('-', '')])));
});

test('cluster, namespace, instance and pod are shown whatever they hold', (t) => {
  for (const label of ['cluster', 'namespace', 'instance', 'pod'])
    t.true(isRelevantLabel(label, new Set(['1', uuid])));
  t.false(isRelevantLabel('node', new Set(['12'])));
});

test('a label of nothing but 0 and 1 is a switch, which is shown', (t) => {
  for (const values of [['0'], ['1'], ['0', '1']]) t.true(isRelevantLabel('on', new Set(values)));
  for (const values of [['0', '2'], ['0', '1', '2'], ['1.0']])
    t.false(isRelevantLabel('on', new Set(values)));
});
