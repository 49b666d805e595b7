import type { Diagnostic } from '@codemirror/lint';
import { checkQuery } from '../api.js';
import { errorPosition, markLine } from '../model/error-position.js';

/** Errors in a query that is being written, as reported by the server. */
export async function checkText(text: string): Promise<readonly Diagnostic[]> {
  if (text.trim() === '') return [];
  // An unresponsive server is reported when the query is run.
  const message = await checkQuery(text).catch(() => undefined);
  if (message === undefined) return [];
  const position = errorPosition(message);
  if (position === undefined) return [{ from: 0, to: text.length, severity: 'error', message }];
  const { offset, marked } = markLine(text, position);
  return [{ from: offset, to: offset + marked.length, severity: 'error', message }];
}
