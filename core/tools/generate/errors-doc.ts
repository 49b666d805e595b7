import { errorTypeOf } from '../../base/errors/api-error.js';
import type { ErrorEntry } from '../../base/errors/api-error.js';
import { errorTable } from '../../base/errors/table.js';
import { cell } from './cells.js';

const head = `# Errors

For operators and developers of clients. Generated from core/base/errors/table.ts by \`npm run generate\`; do not edit.

Errors that a client of the API can get. The body is \`{"status":"error","errorType":...,"error":...,"message":...}\` unless the table says
otherwise; \`message\` is omitted with \`-error-response-message-field=false\`. LogQL errors have status 400 and Loki's text.

| Status | errorType | Text | When | Body |
|---|---|---|---|---|
`;

/** docs/errors.md: every entry of the error table, by status. */
export function generateErrorsDoc(): string {
  const entries: readonly ErrorEntry[] = Object.values(errorTable);
  const sorted = [...entries].sort((a, b) => a.status - b.status || (a.text < b.text ? -1 : 1));
  return head + sorted.map(row).join('');
}

function row(entry: ErrorEntry): string {
  const isText = entry.body === 'text';
  const body = isText ? 'plain text' : '';
  const type = isText ? '' : `\`${errorTypeOf(entry.status)}\``;
  return `| ${entry.status} | ${type} | \`${cell(entry.text)}\` | ${cell(entry.when)} | ${body} |\n`;
}
