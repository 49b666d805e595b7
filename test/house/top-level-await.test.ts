import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import ts from 'typescript';
import { packageRoot } from '../../core/kernel/options/index.js';
import { sourcesIn } from '../setup/sources.js';

/** The program's entry point, which imports nothing before its threads are set up. */
const allowed = new Set(['core/program/main.ts']);

/** True if a statement outside all functions awaits; such a file makes the loading of all its importers asynchronous. */
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
