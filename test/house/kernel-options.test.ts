import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import ts from 'typescript';
import { builtInDefinitions, CORE_SECTIONS, packageRoot } from '../../core/kernel/options/index.js';
import { sourcesIn } from '../setup/sources.js';

/** Flags and keys that only plugin options have. Single words such as `backend` are left out, because they have other meanings. */
function namesOfPluginOptions(): ReadonlySet<string> {
  const sections: ReadonlySet<string> = new Set(CORE_SECTIONS);
  const names = (isSection: boolean): readonly string[] =>
    builtInDefinitions()
      .filter(({ owner }) => sections.has(owner) === isSection)
      .flatMap(({ flag, key }) => (flag === undefined ? [key] : [key, flag]));
  const ofSections = new Set(names(true));
  return new Set(names(false).filter((name) => /[-.A-Z]/.test(name) && !ofSections.has(name)));
}

function textsIn(node: ts.Node): readonly string[] {
  const texts = ts.isStringLiteralLike(node) ? [node.text] : [];
  ts.forEachChild(node, (child) => void texts.push(...textsIn(child)));
  return texts;
}

function optionsNamedIn(text: string, names: ReadonlySet<string>): readonly string[] {
  const source = ts.createSourceFile('source.ts', text, ts.ScriptTarget.Latest);
  return textsIn(source).filter((found) => names.has(found));
}

test('the kernel names no option of a plugin', (t) => {
  const names = namesOfPluginOptions();
  t.true(names.size > 200);
  t.true(names.has('peer-auth-token') && names.has('peerAuthToken'));
  const named = sourcesIn(packageRoot(), ['core/kernel']).flatMap((file) =>
    optionsNamedIn(readFileSync(join(packageRoot(), file), 'utf8'), names).map((name) => `${file}: ${name}`),
  );
  t.deepEqual(named, []);
});

test('an option that code names is found', (t) => {
  const names = namesOfPluginOptions();
  t.deepEqual(optionsNamedIn("findOption(draft, 'cold-enabled'); f({ a: 'tenantMap' });", names), [
    'cold-enabled',
    'tenantMap',
  ]);
});
