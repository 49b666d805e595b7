import { isLegalLabel } from './sanitize.js';

/** Resource attributes of OpenTelemetry's conventions that other collectors do not use. */
const otlpOnly =
  /^(?:(?:telemetry|k8s)\..+|os\.(?:type|name|version|description|build_id)|deployment\.environment(?:\.name)?|service\.(?:namespace|instance\.id))$/;
/** VictoriaLogs turns an event's name into a stream field, regardless of the resource. */
const eventName = 'event_name';

/** True if only an OpenTelemetry exporter gives this field to a stream. */
export function isOtlpField(field: string): boolean {
  return otlpOnly.test(field);
}

/**
 * True if a stream with this field is not an OTLP export: attributes have namespaces, while fields chosen for a collector mostly have none.
 */
export function isChosenField(field: string): boolean {
  return isLegalLabel(field) && field !== eventName;
}

/** True when stream fields are the resource attributes of an OTLP export (docs/loki-view.md). */
export function hasOtlpFields(fields: Iterable<string>): boolean {
  let isExport = false;
  for (const field of fields) {
    if (isChosenField(field)) return false;
    isExport ||= isOtlpField(field);
  }
  return isExport;
}
