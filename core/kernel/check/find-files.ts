import { readdir, stat } from 'node:fs/promises';
import { UsageError } from '../options/index.js';
import { readFailure } from '../pipeline/source.js';

const checkedEndings = /\.(?:ya?ml|md)$/i;

/** Folder names that the search skips. */
const skippedFolders: ReadonlySet<string> = new Set(['node_modules', 'dist']);

/** A file to check; one named explicitly is checked whatever its content. */
export interface FileToCheck {
  readonly file: string;
  readonly isNamed: boolean;
}

/**
 * The files that the given paths refer to, sorted: files as they are, directories with all YAML and Markdown files below them. Throws
 * UsageError for a path that does not exist.
 */
export async function findFiles(paths: readonly string[]): Promise<readonly FileToCheck[]> {
  const named = new Set<string>();
  const files = new Set<string>();
  const problems: string[] = [];
  for (const path of paths) {
    try {
      if ((await stat(path)).isDirectory()) await addFolder(path, files);
      else named.add(path);
    } catch (error) {
      problems.push(`${path}: ${readFailure(error)}`);
    }
  }
  if (problems.length > 0) throw new UsageError(problems);
  return [...new Set([...files, ...named])].sort().map((file) => ({ file, isNamed: named.has(file) }));
}

async function addFolder(folder: string, files: Set<string>): Promise<void> {
  for (const item of await readdir(folder, { withFileTypes: true })) {
    if (item.name.startsWith('.') || skippedFolders.has(item.name)) continue;
    const path = `${folder.replace(/\/+$/, '')}/${item.name}`;
    if (item.isDirectory()) await addFolder(path, files);
    else if (item.isFile() && checkedEndings.test(item.name)) files.add(path);
  }
}
