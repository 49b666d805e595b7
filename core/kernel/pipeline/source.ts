import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';

/** A pipeline as text: a whole file, or one block of a Markdown file with everything around it blanked. */
export interface SourceFile {
  /** As shown in findings: the name the caller used. */
  readonly name: string;
  /** Absolute; relative plugin paths start from its folder. */
  readonly path: string;
  readonly text: string;
  /** True for a Markdown block that shows a part of a pipeline: rules about the whole file do not apply. */
  readonly isFragment: boolean;
}

/** Larger than any pipeline; keeps a wrong file (a log, an image) from being parsed for seconds. */
const maxBytes = 1024 * 1024;

/** Reads a pipeline file. Returns the reason, in words for the operator, when it cannot be read. */
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

/** What a file-system error means, without the path, which the finding names already. */
export function readFailure(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  switch (code) {
    case 'ENOENT':
      return 'there is no such file';
    case 'EACCES':
    case 'EPERM':
      return 'permission denied';
    case 'EISDIR':
      return 'it is a directory';
    case 'ENOTDIR':
      return 'a part of its path is not a directory';
    default:
      return code === '' ? 'unknown error' : code;
  }
}
