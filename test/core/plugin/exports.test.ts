/** Checks that docs/plugins.md lists exactly what plugins can import, because plugin authors rely on the list. */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import test from 'ava';
import ts from 'typescript';
import { packageRoot } from '../../../core/kernel/options/index.js';

const root = packageRoot();

/** The names that a module exports, types included. */
function exportsOf(file: string): readonly string[] {
  const source = ts.createSourceFile(file, readFileSync(join(root, file), 'utf8'), ts.ScriptTarget.Latest);
  return source.statements.flatMap((statement): readonly string[] => {
    if (ts.isExportDeclaration(statement)) {
      const { exportClause, moduleSpecifier } = statement;
      if (exportClause !== undefined && ts.isNamedExports(exportClause))
        return exportClause.elements.map(({ name }) => name.text);
      if (moduleSpecifier === undefined || !ts.isStringLiteral(moduleSpecifier)) return [];
      return exportsOf(join(dirname(file), moduleSpecifier.text.replace(/\.js$/, '.ts')));
    }
    const isNamed =
      ts.isFunctionDeclaration(statement) ||
      ts.isInterfaceDeclaration(statement) ||
      ts.isTypeAliasDeclaration(statement);
    const isExported =
      isNamed && statement.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) === true;
    return isExported && statement.name !== undefined ? [statement.name.text] : [];
  });
}

test('the guide for plugins lists what ref-proxy/plugin exports', (t) => {
  const guide = readFileSync(join(root, 'docs/plugins.md'), 'utf8');
  const table = /^`ref-proxy\/plugin` exports:\n\n(?<rows>(?:\|.*\n)+)/m.exec(guide)?.groups?.['rows'] ?? '';
  const listed = [...table.matchAll(/`(\w+)`/g)].map(([, name = '']) => name);
  t.deepEqual(listed.toSorted(), [...new Set(exportsOf('core/plugin/index.ts'))].toSorted());
});
