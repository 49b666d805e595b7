import type { ErrorEntry } from '../../core/base/errors/api-error.js';
import { errorTable } from '../../core/base/errors/table.js';
import { errorTypeOf } from '../../core/base/errors/api-error.js';

/** A complete response of the proxy. */
export interface ProxyAnswer {
  readonly status: number;
  readonly contentType: string;
  readonly text: string;
}

/**
 * Values of `{cause}` in the table of errors: each is a kind of backend failure that an operator can act on. A text that matches none is a
 * bug, or an entry is missing here.
 */
const causes: readonly RegExp[] = [
  /^(?:the )?backend(?: at \S+)? (?:answered|refused|sent|closed|broke|did)\b/i,
  /\b(?:of|from) the backend\b/i,
  /^(?:the )?backend\b/i,
  /\/select\/\S+/,
  /^(?:connect |read |write )?E[A-Z]{4,}\b/,
  /^other side closed$/,
  /^(?:getaddrinfo|socket hang up|terminated|Client network socket disconnected)\b/,
  /^Response does not match the HTTP\/1\.1 protocol/,
  /^(?:Invalid|Unexpected|Missing|Data after) .*\b(?:header|character|status|version|chunk|response|Content-Length|Transfer-Encoding|LF|CR|CRLF|Connection)\b/i,
  /^Parse Error\b/,
  /^(?:cannot|missing|unexpected|failed|the query|too many|unknown) .+/,
];

/** Internals of the program, which no response may show. */
const insides =
  /\bat (?:async )?[\w.<>$]+ \(|node:internal|file:\/\/\/|\/node_modules\/|\/dist\/|\.[jt]s:\d+|\b(?:TypeError|RangeError|ReferenceError|SyntaxError)\b|\[object |\bundefined\b(?! variable \\*"\$)|Cannot read propert/;

/** Documented texts of 5xx errors; docs/errors.md says when each occurs. */
const documented = Object.entries(errorTable).flatMap(([id, entry]: [string, ErrorEntry]) =>
  id === 'internal' || id === 'badRequest' ? [] : [{ id, entry, pattern: patternOf(entry.text) }],
);

function patternOf(text: string): RegExp {
  const parts = text.split(/\{\w+\}/).map((part) => part.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'));
  return new RegExp(`^${parts.join('([\\s\\S]*)')}$`);
}

/** The problem of an error response; undefined if it is well-formed and documented. */
export function faultOfError(answer: ProxyAnswer, injected: readonly string[] = []): string | undefined {
  const { status, text } = answer;
  if (insides.test(text)) return 'it shows the inside of the program';
  if (status < 400 || status > 599) return `status ${status} is neither a success nor an error`;
  if (status < 500 && status !== 499) return text.trim() === '' ? 'it says nothing' : undefined;
  return faultOfServerError(answer, injected);
}

function faultOfServerError(
  { status, contentType, text }: ProxyAnswer,
  injected: readonly string[],
): string | undefined {
  const body = contentType.startsWith('application/json') ? parse(text) : { error: text.trim() };
  if (body === undefined) return 'its body is no JSON object';
  const { error, errorType } = body;
  if (typeof error !== 'string' || error.trim() === '') return 'it has no text';
  if (error.length > 2_000) return `its text has ${error.length} characters`;
  if (errorType !== undefined && errorType !== errorTypeOf(status))
    return `its errorType ${JSON.stringify(errorType)} is not that of ${status}`;
  const isKnown = documented.some(({ entry, pattern }) => {
    const found = pattern.exec(error);
    if (found === null) return false;
    // A text that consists only of its cause must say what happened.
    if (!/^\{\w+\}$/.test(entry.text)) return true;
    return causes.some((cause) => cause.test(error)) || injected.some((told) => error.includes(told));
  });
  return isKnown ? undefined : `its text is not documented: ${error.slice(0, 200)}`;
}

/** True if a response, of any status, shows internals. */
export function showsInsides(text: string): boolean {
  return insides.test(text);
}

function parse(text: string): { readonly error?: unknown; readonly errorType?: unknown } | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}
