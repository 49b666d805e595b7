/** The text of errors about replies that no store sends. */
export const odd = 'the store sent an unexpected reply';

class TooLate extends Error {}

export function tooLate(): Error {
  return new TooLate();
}

export type FailureReason = 'timeout' | 'auth' | 'full' | 'connection' | 'other';

/** Classifies an error. Error messages of servers begin with a word in capitals. */
export function reasonOf(error: unknown): FailureReason {
  if (error instanceof TooLate) return 'timeout';
  const { message } = error instanceof Error ? error : { message: '' };
  if (/^(?:NOAUTH|WRONGPASS|NOPERM|ERR AUTH)\b/.test(message)) return 'auth';
  if (/^(?:OOM|READONLY|MISCONF)\b/.test(message)) return 'full';
  return message === odd || /^[A-Z]+ /.test(message) ? 'other' : 'connection';
}
