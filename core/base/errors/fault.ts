import { ApiError, type ErrorEntry } from './api-error.js';
import { errorTable } from './table.js';

/** An error in a form that can be sent to another thread. */
export interface Fault {
  /** Its entry in the error table, if it has one. */
  readonly id: string | undefined;
  /** The name of its class. */
  readonly name: string;
  readonly text: string;
  /** The status of an ApiError. */
  readonly status?: number;
  readonly cause?: Fault;
}

/** Maximum depth of causes: an error may be its own cause. */
const mostCauses = 4;

export function faultOf(error: unknown, causes = mostCauses): Fault {
  if (!(error instanceof Error)) return { id: undefined, name: 'Error', text: String(error) };
  return {
    id: error instanceof ApiError ? idOf(error) : undefined,
    name: error.name,
    text: error.message,
    ...(error instanceof ApiError ? { status: error.status } : {}),
    ...(error.cause === undefined || causes === 0 ? {} : { cause: faultOf(error.cause, causes - 1) }),
  };
}

/** A class of errors that are constructed from their message alone. */
export type ErrorClass = new (text: string) => Error;

/** Restores an error. One without an entry in the table gets the class of its name among `classes`, else Error. */
export function errorOf(
  { id, name, text, status, cause: behind }: Fault,
  classes: ReadonlyMap<string, ErrorClass> = new Map(),
): Error {
  const entries = new Map<string, ErrorEntry>(Object.entries(errorTable));
  const entry = id === undefined ? undefined : entries.get(id);
  if (entry === undefined) return new (classes.get(name) ?? Error)(text);
  const cause = behind === undefined ? undefined : errorOf(behind, classes);
  return new ApiError(entry, text, { cause, ...(status === undefined ? {} : { status }) });
}

/** The id of an error in the error table. */
function idOf({ entry }: ApiError): string | undefined {
  const entries: readonly (readonly [string, ErrorEntry])[] = Object.entries(errorTable);
  return entries.find(([, each]) => each === entry)?.[0];
}
