import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import ts from 'typescript';
import { packageRoot } from '../../core/kernel/options/index.js';
import { sourcesIn } from '../setup/sources.js';

/** The program's own entry, which imports nothing before its threads are set up. */
const allowed = new Set(['core/program/main.ts']);

/** True when a statement outside of all functions waits, so that everything that imports the file is loaded in turns. */
function waits(node: ts.Node): boolean {
  if (ts.isAwaitExpression(node) || (ts.isForOfStatement(node) && node.awaitModifier !== undefined))
    return true;
  if (ts.isFunctionLike(node) || ts.isClassLike(node)) return false;
  return ts.forEachChild(node, waits) ?? false;
}

test('no module of core and plugins waits while it is loaded, since test files share a process', (t) => {
  const root = packageRoot();
  const waiting = sourcesIn(root, ['core', 'plugins']).filter((file) => {
    const text = readFileSync(join(root, file), 'utf8');
    return text.includes('await') && waits(ts.createSourceFile(file, text, ts.ScriptTarget.Latest));
  });
  t.deepEqual(
    waiting.filter((file) => !allowed.has(file)),
    [],
  );
  t.deepEqual(waiting.length, allowed.size);
});
