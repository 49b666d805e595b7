import { readFile, readdir, stat } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { isNode, LineCounter, parseAllDocuments } from 'yaml';
import { textOrder } from '../../base/order.js';
import { UsageError } from '../../kernel/options/index.js';
import { queriesOfDocument, type PositionOf } from './documents.js';
import type { FoundQueries } from './found-query.js';
import { queriesOfLines } from './lines.js';

/** Maximum size of a file. */
const maxFileBytes = 64 * 1024 * 1024;

/** A file with its queries. */
export interface QueryFile {
  readonly file: string;
  readonly queries: FoundQueries;
}

/** The queries of the given files, and of those below the given directories. Throws UsageError if there are none. */
export async function queriesIn(paths: readonly string[]): Promise<readonly QueryFile[]> {
  const found: QueryFile[] = [];
  for (const file of await filesIn(paths)) found.push({ file, queries: await readQueries(file) });
  return found;
}

/** The given files, and those below the given directories, sorted by name. Throws UsageError if there are none. */
async function filesIn(paths: readonly string[]): Promise<readonly string[]> {
  const files: string[] = [];
  for (const path of paths) {
    const found = await stat(path).catch(() => undefined);
    if (found === undefined) throw new UsageError([`there is no file ${path}`]);
    files.push(...(found.isDirectory() ? await filesBelow(path) : [path]));
  }
  if (files.length === 0) throw new UsageError([`there is no file with queries in ${paths.join(', ')}`]);
  return files;
}

async function filesBelow(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true });
  return entries
    .filter((entry) => entry.isFile() && /\.(?:json|ya?ml|txt|log|logql|jsonl)$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort(textOrder);
}

/** The queries and variables of a file. Throws UsageError if it cannot be read. */
export async function readQueries(file: string): Promise<FoundQueries> {
  const { size } = await stat(file);
  if (size > maxFileBytes) throw new UsageError([`${file} is larger than ${maxFileBytes} bytes`]);
  const text = await readFile(file, 'utf8');
  if (!/^\.(?:json|ya?ml)$/.test(extname(file))) return queriesOfLines(text, file);
  // JSON is YAML too.
  const lineCounter = new LineCounter();
  const documents = parseAllDocuments(text, { logLevel: 'error', lineCounter });
  const found: FoundQueries[] = [];
  for (const document of documents) {
    const [error] = document.errors;
    if (error !== undefined) throw new UsageError([`${file}: ${error.message}`]);
    const positionOf: PositionOf = (keys) => {
      const node = document.getIn(keys, true);
      const start = isNode(node) ? node.range?.[0] : undefined;
      if (start === undefined) return undefined;
      const { line, col } = lineCounter.linePos(start);
      return { line, column: col };
    };
    found.push(queriesOfDocument(document.toJS(), file, positionOf));
  }
  return {
    queries: found.flatMap(({ queries }) => queries),
    variables: found.flatMap(({ variables }) => variables),
    skipped: found.reduce((sum, { skipped }) => sum + skipped, 0),
  };
}
