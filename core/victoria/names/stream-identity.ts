import { LabelSet, type Label } from '../../base/labels/label-set.js';
import { levelOfNames } from './level.js';
import type { Naming } from './naming.js';
import { isLegalLabel } from './sanitize.js';
import { discoverServiceName, serviceNameLabel } from './service-name.js';
import { parseStreamText } from './stream-text.js';

/** A backend stream as Loki sees it. Backend streams with the same labels are one stream to a client. */
export interface StreamIdentity {
  /** Index labels, including the derived `service_name`. */
  readonly labels: LabelSet;
  readonly labelNames: ReadonlySet<string>;
  /** Every stream field with its value, by stored name. */
  readonly fields: ReadonlyMap<string, string>;
  /** Stored names of the fields that became labels. */
  readonly labelFields: ReadonlySet<string>;
  /** Stream fields that Loki keeps as structured metadata, with their values. */
  readonly metadata: readonly Label[];
  /** The level found in the labels. */
  readonly level: string | undefined;
  /** True when a name is empty or not a legal label, which an OTLP export can leave and a Loki push cannot. */
  readonly looksLikeOtlp: boolean;
}

/** Parses a `_stream` text (otel-README, rules 1 to 3). */
export function identifyStream(text: string, naming: Naming): StreamIdentity {
  const fields = new Map<string, string>();
  const found = new Map<string, { readonly field: string; readonly value: string }>();
  const metadata: Label[] = [];
  const labelFields = new Set<string>();
  for (const [field, value] of parseStreamText(text)) {
    fields.set(field, value);
    const label = naming.labelOf(field);
    if (label === undefined) {
      metadata.push([field, value]);
      continue;
    }
    labelFields.add(field);
    const other = found.get(label);
    if (other === undefined || isBefore(field, other.field, naming.fieldsOf(label)))
      found.set(label, { field, value });
  }
  const byLabel = new Map<string, string>();
  for (const [label, { value }] of found) byLabel.set(label, value);
  const service = serviceOf(byLabel, fields, naming);
  const labels = LabelSet.from(byLabel).with([[serviceNameLabel, service]]);
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

// Under passthrough, labels keep their stored names, so the discovery list is matched against stored fields.
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

function isBefore(field: string, other: string, order: readonly string[]): boolean {
  return order.includes(field) && order.indexOf(field) < order.indexOf(other);
}
