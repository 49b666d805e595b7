export type LogFields = Readonly<Record<string, unknown>>;

/** A structured logger with the field names of docs/protocol/operation.md#structured-logs. */
export interface Logger {
  debug(body: string, fields?: LogFields): void;
  info(body: string, fields?: LogFields): void;
  warn(body: string, fields?: LogFields): void;
  error(body: string, fields?: LogFields): void;
}
