import { isLegalLabel } from './sanitize.js';

/** Resource attributes that OpenTelemetry's conventions name and other collectors do not use. */
const otlpOnly =
  /^(?:(?:telemetry|k8s)\..+|os\.(?:type|name|version|description|build_id)|deployment\.environment(?:\.name)?|service\.(?:namespace|instance\.id))$/;
/** VictoriaLogs makes a stream field of an event's name, whatever the resource. */
const eventName = 'event_name';

/** True when only an OpenTelemetry exporter gives a stream this field. */
export function isOtlpField(field: string): boolean {
  return otlpOnly.test(field);
}

/**
 * True when a stream with this field is not an OTLP export: attributes have namespaces, and fields that a collector chooses mostly have
 * none.
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
