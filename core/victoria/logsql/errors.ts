/** A query that VictoriaLogs would refuse; `message` has the form of its own text, without the frame around it. */
export class LogsqlError extends Error {
  override readonly name: string = 'LogsqlError';
}

/** What is left of the query needs more memory than allowed. */
export class MemoryBudgetError extends LogsqlError {
  override readonly name = 'MemoryBudgetError';

  constructor(pipe: string, limitBytes: number) {
    const megabytes = Math.floor(limitBytes / (1024 * 1024));
    super(`cannot calculate [${pipe}], since it requires more than ${megabytes}MB of memory`);
  }
}
