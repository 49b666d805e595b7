import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { importedPath, sourcesIn } from '../setup/sources.js';

/** A top-level import; imports of types count, too. */
export interface Edge {
  readonly from: string;
  readonly to: string;
}

/** The sources of core and plugins by path in the package, with the imports that each loads. */
export interface ImportGraph {
  readonly files: readonly string[];
  readonly edges: readonly Edge[];
  /** Edges from a file to the worker threads that it starts. */
  readonly threads: readonly Edge[];
}

/**
 * Reads the top-level imports of every source, and the files it starts as worker threads. An `import()` inside a function loads nothing
 * until
 * the call.
 */
export function readImportGraph(root: string): ImportGraph {
  // The UI in the browser is a separate program.
  const files = sourcesIn(root, ['core', 'plugins']).filter(
    (file) => file.endsWith('.ts') && !file.startsWith('plugins/ui/browser/'),
  );
  const known = new Set(files);
  const edgesBy = (read: (text: string) => readonly string[]): readonly Edge[] =>
    files.flatMap((from) =>
      read(readFileSync(join(root, from), 'utf8')).flatMap((specifier) => {
        const to = importedPath(from, specifier);
        return to !== undefined && known.has(to) ? [{ from, to }] : [];
      }),
    );
  return { files, edges: edgesBy(specifiersOf), threads: edgesBy(threadsOf) };
}

function specifiersOf(text: string): readonly string[] {
  const source = ts.createSourceFile('source.ts', text, ts.ScriptTarget.Latest);
  return source.statements.flatMap((statement) => {
    const isLink = ts.isImportDeclaration(statement) || ts.isExportDeclaration(statement);
    const specifier = isLink ? statement.moduleSpecifier : undefined;
    return specifier !== undefined && ts.isStringLiteral(specifier) ? [specifier.text] : [];
  });
}

function threadsOf(text: string): readonly string[] {
  const started = text.matchAll(/new URL\('(?<file>\.[^']+\.js)', import\.meta\.url\)/g);
  return [...started].flatMap(({ groups }) => groups?.['file'] ?? []);
}

/** All files that a file loads, itself and its worker threads included. */
export function closureOf({ edges, threads }: ImportGraph, start: string): ReadonlySet<string> {
  const next = byFrom([...edges, ...threads]);
  const seen = new Set([start]);
  for (const file of seen) for (const to of next.get(file) ?? []) seen.add(to);
  return seen;
}

/** Import cycles: groups of nodes that reach each other. */
export function circlesOf(edges: readonly Edge[]): readonly (readonly string[])[] {
  const next = byFrom(edges);
  const order: string[] = [];
  const visited = new Set<string>();
  for (const start of next.keys()) leaveInOrder(start, next, visited, order);
  const back = byFrom(edges.map(({ from, to }) => ({ from: to, to: from })));
  const assigned = new Set<string>();
  const circles: string[][] = [];
  for (const node of order.reverse()) {
    if (assigned.has(node)) continue;
    const group = [node];
    assigned.add(node);
    for (const member of group)
      for (const to of back.get(member) ?? [])
        if (!assigned.has(to)) {
          assigned.add(to);
          group.push(to);
        }
    if (group.length > 1) circles.push(group.sort());
  }
  return circles;
}

function leaveInOrder(
  start: string,
  next: ReadonlyMap<string, readonly string[]>,
  visited: Set<string>,
  order: string[],
): void {
  if (visited.has(start)) return;
  visited.add(start);
  for (const to of next.get(start) ?? []) leaveInOrder(to, next, visited, order);
  order.push(start);
}

function byFrom(edges: readonly Edge[]): ReadonlyMap<string, readonly string[]> {
  const next = new Map<string, string[]>();
  for (const { from, to } of edges) {
    const known = next.get(from);
    if (known === undefined) next.set(from, [to]);
    else known.push(to);
  }
  return next;
}
