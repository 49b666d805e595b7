import test from 'ava';
import { testsNear } from '../setup/fast.js';

const imports = new Map<string, readonly string[]>([
  ['core/a/one.ts', []],
  ['core/a/two.ts', ['core/a/one.ts']],
  ['core/b/deep/three.ts', ['core/a/two.ts']],
  ['plugins/guard/index.ts', []],
  ['test/core/z/one.test.ts', ['core/a/one.ts']],
  ['test/core/b/three.test.ts', ['core/b/deep/three.ts']],
  ['test/core/c/other.test.ts', []],
  ['test/plugins/guard/guard.test.ts', []],
  ['test/fuzz/fuzz.test.ts', ['core/a/one.ts']],
  ['test/house/rooms.test.ts', []],
]);
const isSlow = (file: string): boolean => file.startsWith('test/fuzz/');
const near = (...changed: readonly string[]): readonly string[] => [
  ...testsNear({ imports, changed, isSlow }),
];

test('a fast run takes tests that import what changed, nearest first, and the rules of the house', (t) => {
  t.deepEqual(near('core/a/one.ts'), [
    'test/core/z/one.test.ts',
    'test/core/b/three.test.ts',
    'test/house/rooms.test.ts',
  ]);
});

test('a fast run takes the tests of the folder of what changed, and of a folder above where it has none', (t) => {
  t.deepEqual(near('core/b/deep/three.ts'), ['test/core/b/three.test.ts', 'test/house/rooms.test.ts']);
  t.deepEqual(near('plugins/guard/README.md'), [
    'test/plugins/guard/guard.test.ts',
    'test/house/rooms.test.ts',
  ]);
  t.deepEqual(near('schemas/guard.schema.json'), [
    'test/plugins/guard/guard.test.ts',
    'test/house/rooms.test.ts',
  ]);
});

test('a fast run takes a slow suite when that, or a source of its folder, has changed', (t) => {
  t.deepEqual(near('test/fuzz/fuzz.test.ts'), ['test/fuzz/fuzz.test.ts', 'test/house/rooms.test.ts']);
  const changed = ['plugins/guard/index.ts'];
  t.true(testsNear({ imports, changed, isSlow: () => true }).has('test/plugins/guard/guard.test.ts'));
});

test('a fast run stays fast after a change on which everything stands', (t) => {
  const many = Array.from(
    { length: 200 },
    (_, index) => [`test/core/x/${index}.test.ts`, ['core/a/one.ts']] as const,
  );
  const chosen = testsNear({ imports: new Map([...imports, ...many]), changed: ['core/a/one.ts'], isSlow });
  t.is(chosen.size, 41);
});
