/** One kind of error that a client can receive. Its text is defined only here. */
export interface ErrorEntry {
  readonly status: number;
  /** The condition, for docs/errors.md. */
  readonly when: string;
  /** The text, with `{name}` for each value. */
  readonly text: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Set for errors that clients expect as plain text; others are the JSON of docs/protocol/errors-and-limits.md#error-body. */
  readonly body?: 'text';
}

/** Details that one occurrence adds to its entry in the table. */
export interface ApiErrorOptions {
  readonly cause?: unknown;
  /** Replaces the table's status, to pass on the backend's. */
  readonly status?: number;
  /** Added to the table's headers. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** An error meant for the client: status, type and text come from the error table; `cause` is only logged. */
export class ApiError extends Error {
  readonly entry: ErrorEntry;
  readonly status: number;
  readonly errorType: string;
  readonly headers: Readonly<Record<string, string>>;

  constructor(entry: ErrorEntry, text: string, options?: ApiErrorOptions) {
    super(text, options?.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'ApiError';
    this.entry = entry;
    this.status = options?.status ?? entry.status;
    this.errorType = errorTypeOf(this.status);
    this.headers = { ...entry.headers, ...options?.headers };
  }
}

/** errorType by status (docs/protocol/errors-and-limits.md#error-body). */
export function errorTypeOf(status: number): string {
  switch (status) {
    case 404:
      return 'not_found';
    case 406:
      return 'not_acceptable';
    case 422:
      return 'execution';
    case 499:
      return 'canceled';
    case 502:
      return 'unavailable';
    case 503:
    case 504:
      return 'timeout';
    default:
      return status >= 400 && status < 500 ? 'bad_data' : 'internal';
  }
}
