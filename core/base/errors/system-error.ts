const reasons: ReadonlyMap<string, string> = new Map([
  ['EADDRINUSE', 'address already in use'],
  ['EACCES', 'permission denied'],
  ['EADDRNOTAVAIL', 'no network interface of this machine has that address'],
  ['EEXIST', 'a file with that name already exists'],
  ['EISDIR', 'it is a directory'],
  ['ENOTFOUND', 'unknown host'],
  ['ENOENT', 'no such file'],
  ['ENOTDIR', 'a part of the path is a file, not a directory'],
  ['EROFS', 'the file system is read-only'],
]);

/** Explains in words why the system refused a file or an address. */
export function describeSystemError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = 'code' in error ? String(error.code) : '';
  return reasons.get(code) ?? error.message;
}

/** An error of a system call, as Node throws it. */
export interface SystemError extends Error {
  /** Its name in errno(3), such as EMFILE. */
  readonly code: string;
  readonly syscall: string;
}

/** Tells whether an error comes from a failed system call rather than from a defect of this program. */
export function isSystemError(error: unknown): error is SystemError {
  if (!(error instanceof Error && 'code' in error && 'syscall' in error)) return false;
  return (
    typeof error.code === 'string' && /^E[A-Z\d_]+$/.test(error.code) && typeof error.syscall === 'string'
  );
}

/** Tells whether the process or the system is out of file descriptors. */
export function isOutOfDescriptors(error: unknown): boolean {
  return isSystemError(error) && (error.code === 'EMFILE' || error.code === 'ENFILE');
}

/** Tells whether an error has this code, such as ENOENT or SQLITE_BUSY. */
export function hasCode(error: unknown, code: string): error is Error & { readonly code: string } {
  return error instanceof Error && 'code' in error && error.code === code;
}

/** Tells whether an error means that a file does not exist. */
export function isMissing(error: unknown): boolean {
  return hasCode(error, 'ENOENT');
}
