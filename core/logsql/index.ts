export type * from './ast.js';
export { MapRow, fieldsOf } from './row.js';
export type { RowView } from './row.js';
export { printFilter, printQuery } from './print.js';
export { printPipe } from './print-pipes.js';
export { InexpressibleNameError, quoteName, quoteText } from './quote.js';
export { LogsqlError, MemoryBudgetError } from './errors.js';
export * as build from './build.js';
