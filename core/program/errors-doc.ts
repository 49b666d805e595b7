import { errorTypeOf } from '../base/errors/api-error.js';
import type { ErrorEntry } from '../base/errors/api-error.js';
import { errorTable } from '../base/errors/table.js';

const head = `# Errors

Generated from core/base/errors/table.ts by \`npm run generate\`; do not edit.

What a client can be told. The body is \`{"status":"error","errorType":...,"error":...,"message":...}\` unless the table says
otherwise; \`message\` is left out with \`-error-response-message-field=false\`. LogQL errors have status 400 and Loki's text.

| Status | errorType | Text | When | Body |
|---|---|---|---|---|
`;

const bodies = {
  json: '',
  bare: '`status` and `error` only',
  'error-only': '`error` only',
  text: 'plain text',
} as const satisfies Record<NonNullable<ErrorEntry['body']>, string>;

/** docs/errors.md: every entry of the error table, by status. */
export function generateErrorsDoc(): string {
  const entries: readonly ErrorEntry[] = Object.values(errorTable);
  const sorted = [...entries].sort((a, b) => a.status - b.status || (a.text < b.text ? -1 : 1));
  return head + sorted.map(row).join('');
}

function row(entry: ErrorEntry): string {
  const body = bodies[entry.body ?? 'json'];
  const type = body === '' ? `\`${errorTypeOf(entry.status)}\`` : '';
  return `| ${entry.status} | ${type} | \`${cell(entry.text)}\` | ${cell(entry.when)} | ${body} |\n`;
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|');
}
