import { columnOf, type BackendRow } from '../upstream/types.js';

const severityNames = ['Trace', 'Debug', 'Info', 'Warn', 'Error', 'Fatal'];
const onlyZeros = /^0+$/;
/** The severity number that VictoriaLogs stores for a record without one. */
const unsetNumber = '0';

/** The text that VictoriaLogs stores for a record without a severity text. */
export function defaultSeverityText(severityNumber: string): string {
  const number = Number(severityNumber);
  if (!Number.isInteger(number) || number < 1 || number > 24) return 'Unspecified';
  const step = ((number - 1) % 4) + 1;
  return `${severityNames[Math.floor((number - 1) / 4)] ?? ''}${step === 1 ? '' : String(step)}`;
}

const fillable: ReadonlySet<string> = new Set([
  'severity_number',
  'severity_text',
  'scope.name',
  'scope.version',
  'trace_id',
  'span_id',
]);

/** True when `isFilledIn` can be true for the field. */
export function mayBeFilledIn(field: string): boolean {
  return fillable.has(field);
}

/** The value that VictoriaLogs adds to a record with neither severity number nor text; undefined for other fields. */
export function filledInWithoutSeverity(field: string): string | undefined {
  if (field === 'severity_number') return unsetNumber;
  return field === 'severity_text' ? defaultSeverityText(unsetNumber) : undefined;
}

/** True when VictoriaLogs added the field and Loki would not show it (otel-README, rule 7). */
export function isFilledIn(field: string, value: string, row: BackendRow): boolean {
  switch (field) {
    case 'severity_number':
      return value === unsetNumber;
    case 'severity_text':
      return value === defaultSeverityText(columnOf(row, 'severity_number') ?? unsetNumber);
    case 'scope.name':
    case 'scope.version':
      return value === 'unknown';
    case 'trace_id':
    case 'span_id':
      return onlyZeros.test(value);
    default:
      return false;
  }
}
