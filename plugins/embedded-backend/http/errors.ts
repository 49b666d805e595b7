/** An error for the client: HTTP status and text. The stats endpoints wrap the text in JSON with status 422. */
export class HttpError extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.name = 'HttpError';
    this.status = status;
  }
}

/** A query exceeded its timeout; docs/protocol/victorialogs.md#failures describes the two ways in which the client is told. */
export class QueryTimeoutError extends HttpError {
  constructor(limitMs: number) {
    super(
      503,
      `the request couldn't be executed in ${(limitMs / 1000).toFixed(3)} seconds; possible solutions: ` +
        `to increase -search.maxQueryDuration=30s; to pass bigger value to 'timeout' query arg`,
    );
    this.name = 'QueryTimeoutError';
  }
}

/** The client has left, so there is no connection to answer on. */
export class ClientGoneError extends Error {
  constructor() {
    super('the client has closed the connection');
    this.name = 'ClientGoneError';
  }
}

/** An HTTP 400 error with this text. */
export function badRequest(message: string): HttpError {
  return new HttpError(400, message);
}
