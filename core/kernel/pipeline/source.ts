import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';

/** The text of a pipeline: a whole file, or one block of a Markdown file with everything around it blanked. */
export interface SourceFile {
  /** The name as the caller wrote it, for findings. */
  readonly name: string;
  /** The absolute path; relative plugin paths start at its folder. */
  readonly path: string;
  readonly text: string;
  /** True for a Markdown block that shows part of a pipeline: rules about the whole file do not apply. */
  readonly isFragment: boolean;
}

/** Maximum size of a pipeline file, so that a wrong file (a log, an image) is not parsed for seconds. */
const maxBytes = 1024 * 1024;

/** Reads a pipeline file, or returns the reason why it cannot be read. */
export async function readSource(name: string): Promise<SourceFile | { readonly reason: string }> {
  const path = resolve(name);
  let bytes: Buffer;
  try {
    bytes = await readFile(path);
  } catch (error) {
    return { reason: `cannot be read: ${readFailure(error)}` };
  }
  if (bytes.byteLength > maxBytes) return { reason: `is larger than ${maxBytes} bytes` };
  try {
    return { name, path, text: new TextDecoder('utf-8', { fatal: true }).decode(bytes), isFragment: false };
  } catch {
    return { reason: 'is not UTF-8 text' };
  }
}

const failures: ReadonlyMap<string, string> = new Map([
  ['ENOENT', 'there is no such file'],
  ['EACCES', 'permission denied'],
  ['EPERM', 'permission denied'],
  ['EISDIR', 'it is a directory'],
  ['ENOTDIR', 'a part of its path is not a directory'],
  ['EADDRINUSE', 'the port is in use'],
  ['EADDRNOTAVAIL', 'the address does not belong to this machine'],
  ['ENOTFOUND', 'the host name cannot be resolved'],
  ['EAI_AGAIN', 'the host name cannot be resolved'],
  ['ECONNREFUSED', 'connection refused'],
  ['ECONNRESET', 'connection reset'],
]);

/** Explains a failed system call without the path or the address, which the finding already names. */
export function readFailure(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return failures.get(code) ?? (code === '' ? 'unknown error' : code);
}
