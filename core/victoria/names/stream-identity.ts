import { type Label, LabelSet } from '../../base/label-set.js';
import { levelOfNames } from './level.js';
import { isLegalLabel, type Naming } from './naming.js';
import { discoverServiceName, serviceNameLabel } from './service-name.js';
import { parseStreamText } from '../logsql/stream-text.js';

/** A backend stream as Loki sees it. Backend streams with the same labels are one stream to a client. */
export interface StreamIdentity {
  /** Index labels, including the derived `service_name`. */
  readonly labels: LabelSet;
  readonly labelNames: ReadonlySet<string>;
  /** Every stream field with its value, by stored name. */
  readonly fields: ReadonlyMap<string, string>;
  /**
   * The labels that stream fields become, by stored name. Of several fields with the same label, the first by precedence provides its
   * value.
   */
  readonly labelFields: ReadonlyMap<string, string>;
  /** Stream fields that Loki keeps as structured metadata, with their values. */
  readonly metadata: readonly Label[];
  /** The level found in the labels. */
  readonly level: string | undefined;
  /** True if a name is empty or not a legal label, which is possible after an OTLP export but not after a Loki push. */
  readonly looksLikeOtlp: boolean;
}

/** Labels of the streams that Loki aggregates from others; it derives no service name for them. */
export const aggregateLabels: readonly string[] = ['__aggregated_metric__', '__pattern__'];

/** Parses a `_stream` text (docs/loki-view.md). */
export function identifyStream(text: string, naming: Naming): StreamIdentity {
  const fields = new Map(parseStreamText(text));
  const isOtlp = naming.isOtlpStream(fields.keys());
  const winners = new Map<string, string>();
  const metadata: Label[] = [];
  const labelFields = new Map<string, string>();
  for (const [field, value] of fields) {
    const label = naming.labelOf(field, isOtlp);
    if (label === undefined) {
      metadata.push([field, value]);
      continue;
    }
    labelFields.set(field, label);
    const other = winners.get(label);
    if (other === undefined || naming.precedes(field, other, label)) winners.set(label, field);
  }
  const byLabel = new Map<string, string>();
  for (const [label, field] of winners) byLabel.set(label, fields.get(field) ?? '');
  const isAggregate = aggregateLabels.some((label) => byLabel.has(label));
  const service = isAggregate ? byLabel.get(serviceNameLabel) : serviceOf(byLabel, fields, naming);
  const labels = LabelSet.from(byLabel).with(service === undefined ? [] : [[serviceNameLabel, service]]);
  return {
    labels,
    labelNames: new Set(labels.labels.map(([name]) => name)),
    fields,
    labelFields,
    metadata,
    level: levelOfNames((name) => byLabel.get(name)),
    looksLikeOtlp: fields.size === 0 || [...fields.keys()].some((field) => !isLegalLabel(field)),
  };
}

// With passthrough, labels keep their stored names, so the discovery list is matched against stored fields.
function serviceOf(
  labels: ReadonlyMap<string, string>,
  fields: ReadonlyMap<string, string>,
  naming: Naming,
): string {
  if (naming.labelStyle === 'underscores') return discoverServiceName(labels);
  for (const field of naming.serviceFields()) {
    const value = fields.get(field);
    if (value !== undefined && value !== '') return value;
  }
  return discoverServiceName(labels);
}
