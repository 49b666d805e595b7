import { ApiError, type ErrorEntry } from '../../base/errors/api-error.js';
import { apiError, errorTable } from '../../base/errors/table.js';
import { errorIn } from '../../base/json-member.js';
import { isOutOfDescriptors } from '../../base/errors/system-error.js';
import { redact, withoutAddresses } from './redact.js';

/** Part of VictoriaLogs' text for a query over its time limit, with any status. */
const deadlineMarker = "couldn't be executed in";

/** Part of the error text of a cluster that cannot reach one of its storage nodes, with any status. */
const lostNodeMarker = 'cannot connect to storage node';

/** VictoriaLogs' text for a query that is too long. */
const tooLong =
  /cannot exceed -search\.maxQueryLen=(?<limit>\d+) bytes; the current query length is (?<length>\d+) /;

/**
 * Determines the status of a backend's HTTP error: query routes keep it, others answer 502 (docs/protocol/errors-and-limits.md#error-body).
 */
export type StatusRule = 'keep' | 'gateway';

/** The body broke off after the head had arrived, as VictoriaLogs does at its own deadline. */
export class BrokenBody extends Error {
  override readonly name = 'BrokenBody';
}

/** The error text of a backend that answered with a status of 500 or more: the failure is the backend's, not the query's. */
export class BackendFailure extends Error {
  override readonly name = 'BackendFailure';
}

/** True if a call failed because the backend is down or failing, and not because of the query. */
export function isOutage(error: unknown): boolean {
  if (!(error instanceof ApiError)) return false;
  if (error.entry === errorTable.coldBackend) return isOutage(error.cause);
  return outages.has(error.entry) || error.cause instanceof BackendFailure;
}

/** True if a cluster could not reach one of its storage nodes, and would answer without its rows. */
export function isLostNode(error: unknown): boolean {
  return error instanceof ApiError && error.entry === errorTable.storageNodeLost;
}

/** True if the backend is up, but rejects the call. */
export function isRefusal(error: unknown): boolean {
  if (!(error instanceof ApiError)) return false;
  if (error.entry === errorTable.coldBackend) return isRefusal(error.cause);
  return refusals.has(error.entry) && !isOutage(error);
}

/** True for an error of a call, whichever backend it was made to. */
export function isCallError(error: unknown): error is ApiError {
  return error instanceof ApiError && ofCalls.has(error.entry);
}

const ofCalls: ReadonlySet<ErrorEntry> = new Set([
  errorTable.breakerOpen,
  errorTable.backendUnreachable,
  errorTable.backendRefused,
  errorTable.backendQueryTooLong,
  errorTable.queryTimeout,
  errorTable.rowTooLong,
  errorTable.tooManyCalls,
  errorTable.storageNodeLost,
  errorTable.unexpectedAnswer,
]);
const outages: ReadonlySet<ErrorEntry> = new Set([
  errorTable.breakerOpen,
  errorTable.backendUnreachable,
  errorTable.queryTimeout,
]);
const refusals: ReadonlySet<ErrorEntry> = new Set([
  errorTable.backendRefused,
  errorTable.backendQueryTooLong,
]);

/** Rewrites a text of the backend for clients. */
export type Wording = (text: string) => string;

export interface WordingOptions {
  /** True if texts are shown unchanged (`-debug-log-raw-queries`). */
  readonly isRaw: boolean;
  readonly hidesAddresses: boolean;
  /** Host name of the backend. */
  readonly host: string;
}

export function wordingOf({ isRaw, hidesAddresses, host }: WordingOptions): Wording {
  if (isRaw) return (text) => text.trim();
  if (!hidesAddresses) return redact;
  const hosts = new Set([host]);
  return (text) => redact(withoutAddresses(text, hosts));
}

/** The error for an answer that does not fit the call; `from` names the backend and the call. */
export function unexpectedAnswer(
  from: string,
  problem: string,
  cause?: unknown,
  wording: Wording = redact,
): ApiError {
  if (problem.includes(deadlineMarker)) return apiError('queryTimeout', {}, { cause: new Error(problem) });
  if (problem.includes(lostNodeMarker)) return storageNodeLost(problem);
  return apiError('unexpectedAnswer', { from, problem: wording(problem) }, { cause });
}

/** The error for an HTTP error of the backend; `body` is its text or JSON. */
export function refusalOf(
  status: number,
  body: string,
  rule: StatusRule,
  wording: Wording = redact,
): ApiError {
  const text = errorIn(body);
  if (text.includes(deadlineMarker)) return apiError('queryTimeout', {}, { cause: new Error(text) });
  if (text.includes(lostNodeMarker)) return storageNodeLost(text);
  const { limit, length } = tooLong.exec(text)?.groups ?? {};
  if (limit !== undefined && length !== undefined) return apiError('backendQueryTooLong', { limit, length });
  const cause = causeOf(status, wording(text));
  // A status below 400 would signal success; above 599 there is none.
  const isKept = rule === 'keep' && status >= 400 && status <= 599;
  const origin = status >= 500 ? new BackendFailure(text) : new Error(text);
  return apiError('backendRefused', { cause }, { cause: origin, status: isKept ? status : 502 });
}

function storageNodeLost(text: string): ApiError {
  return apiError('storageNodeLost', {}, { cause: new BackendFailure(text) });
}

/** For answers that cannot come from VictoriaLogs. */
export const addressAdvice = 'is -backend the address of VictoriaLogs?';

/** Advice for answers from something in front of VictoriaLogs, or from another program. */
const advice: ReadonlyMap<number, string> = new Map([
  [401, 'set -backend-basic-auth, or -forward-authorization'],
  [403, 'check -backend-basic-auth and the proxies in front of the backend'],
  [404, addressAdvice],
]);

function causeOf(status: number, text: string): string {
  if (status < 400)
    return `backend answered with status ${status}; set -backend to the target of its redirect`;
  const known = advice.get(status);
  if (known !== undefined)
    return `backend answered with status ${status}${text === '' ? '' : `: ${text}`}; ${known}`;
  // VictoriaLogs explains errors in a sentence; a single word, a page or rows are meaningless without the status.
  if (/^\p{L}\S*\s+\S/u.test(text)) return text;
  return `backend answered with status ${status}${text === '' ? '' : `: ${text}`}`;
}

/** The error for a call that ended without a complete answer. */
export function failureOf(error: unknown, wording: Wording = redact): ApiError {
  if (error instanceof ApiError) return error;
  if (error instanceof BrokenBody) return apiError('queryTimeout', {}, { cause: error.cause ?? error });
  const cause = error instanceof Error ? error.message || codeOf(error) : String(error);
  if (isOutOfDescriptors(error)) return apiError('noDescriptors', {}, { cause: error });
  if (isTimeout(error)) return apiError('queryTimeout', {}, { cause: error });
  return apiError('backendUnreachable', { cause: wording(cause) }, { cause: error });
}

/**
 * True for an error of the connection itself. These count for the circuit breaker; timeouts and a lack of resources in this process do not.
 */
export function isTransportFailure(error: unknown): boolean {
  if (error instanceof ApiError || error instanceof BrokenBody) return false;
  return !isTimeout(error) && !isOutOfDescriptors(error);
}

/** True when a call may be sent again: the connection was closed before any byte of an answer. */
export function isReset(error: unknown): boolean {
  const code = codeOf(error);
  return code === 'ECONNRESET' || code === 'EPIPE';
}

function isTimeout(error: unknown): boolean {
  return error instanceof Error && error.name === 'TimeoutError';
}

function codeOf(error: unknown): string {
  if (typeof error !== 'object' || error === null || !('code' in error)) return '';
  return typeof error.code === 'string' ? error.code : '';
}
