/** A query that VictoriaLogs would reject; `message` has the form of VictoriaLogs' own text, without its prefix. */
export class LogsqlError extends Error {
  override readonly name: string = 'LogsqlError';
}

/** The query needs more memory than allowed. */
export class MemoryBudgetError extends LogsqlError {
  override readonly name = 'MemoryBudgetError';

  constructor(pipe: string, limitBytes: number) {
    const megabytes = Math.floor(limitBytes / (1024 * 1024));
    super(`cannot calculate [${pipe}], since it requires more than ${megabytes}MB of memory`);
  }
}
