import test from 'ava';
import { jsonPathsOf } from '../../../../core/logql/pipeline/key-table.js';

test('paths are the keys as they stand, under the labels that a JSON parser makes of them', (t) => {
  const line = '{"k8s.pod.name":"p","user":{"id":7,"e-mail":"x"},"1st":true,"tags":["a"],"none":null}';
  t.deepEqual(
    [...jsonPathsOf(line, [])],
    [
      ['k8s_pod_name', ['k8s.pod.name']],
      ['user_id', ['user', 'id']],
      ['user_e_mail', ['user', 'e-mail']],
      ['_1st', ['1st']],
    ],
  );
});

test('of two keys with one label the first in the line counts', (t) => {
  t.deepEqual(jsonPathsOf('{"a.b":1,"a":{"b":2}}', []).get('a_b'), ['a.b']);
});

test('a line that is no JSON object has no paths', (t) => {
  for (const line of ['', 'text', '[1]', '3', 'null', '{"a":']) t.is(jsonPathsOf(line, []).size, 0, line);
});

test('objects nested beyond reason are not followed to the end', (t) => {
  const deep = `${'{"a":'.repeat(500)}1${'}'.repeat(500)}`;
  t.is(jsonPathsOf(deep, []).size, 0);
});

test('keys of nested values lose the ending that marks clashes, a key of the line keeps it', (t) => {
  const paths = jsonPathsOf('{"a_extracted":1,"b_extracted":{"c":{"d_extracted":2}}}', []);
  t.deepEqual(paths.get('a_extracted'), ['a_extracted']);
  t.deepEqual(paths.get('b_extracted_c_d_extracted'), ['b', 'c', 'd']);
});

test('a key with the name of a label of the stream has the ending that marks clashes, and the first key with a label counts', (t) => {
  const stream = [['level', 'x']] as const;
  t.deepEqual(jsonPathsOf('{"level":1,"level_extracted":2}', stream).get('level_extracted'), ['level']);
  t.deepEqual(jsonPathsOf('{"level_extracted":2,"level":1}', stream).get('level_extracted'), [
    'level_extracted',
  ]);
  t.false(jsonPathsOf('{"level":1}', stream).has('level'));
});
