import { addTo, textOrder } from '../../base/order.js';
import { Memo } from '../../base/memory/byte-lru.js';
import { createHash } from 'node:crypto';
import type { Tenant } from '../../base/caller.js';
import type { NamesOptions } from '../../base/options.gen.js';
import { defaultMissingText } from './missing-line.js';
import { serviceDiscoveryLabels, serviceNameLabel } from './service-name.js';

const legalLabel = /^[A-Za-z_][A-Za-z0-9_]*$/;
const runOfOthers = /[^A-Za-z0-9]+/gu;
const onlyUnderscores = /^_*$/;
const scopeAttributePrefix = 'scope.attributes.';
/** Maximum number of cached names. The same few names are requested repeatedly: every promoted attribute, for each label of each query. */
const keptNames = 4096;

/** True when LogQL accepts the name as a label, unquoted and unchanged. */
export function isLegalLabel(name: string): boolean {
  return legalLabel.test(name);
}

/**
 * A metadata name as Loki shows it (otel-README, rule 4): sequences of characters other than letters and digits become one `_`, also
 * between the underscores of `__x__`, and a leading digit gets the prefix `key_`.
 */
export function sanitizePushed(name: string): string {
  return pushedNames.get(name);
}

const pushedNames = new Memo<string, string>(keptNames, (name) => {
  const isReserved = name.length >= 4 && name.startsWith('__') && name.endsWith('__');
  const joined = (isReserved ? name.slice(2, -2) : name).replace(runOfOthers, '_');
  const shown = isReserved ? `__${joined}__` : /^[0-9]/.test(joined) ? `key_${joined}` : joined;
  // Loki rejects a push with such a name; a stored one keeps its length.
  return onlyUnderscores.test(shown) ? '_'.repeat(name.length) : shown;
});

/** An attribute name as Loki shows it after an OTLP export: scope attributes lose the prefix that VictoriaLogs adds. */
export function sanitizeOtel(name: string): string {
  return sanitizePushed(
    name.startsWith(scopeAttributePrefix) ? name.slice(scopeAttributePrefix.length) : name,
  );
}

/** Resource attributes of OpenTelemetry's conventions that other collectors do not use. */
const otlpOnly =
  /^(?:(?:telemetry|k8s)\..+|os\.(?:type|name|version|description|build_id)|deployment\.environment(?:\.name)?|service\.(?:namespace|instance\.id))$/;
/** VictoriaLogs turns an event's name into a stream field, regardless of the resource; Loki keeps it as structured metadata. */
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
function hasOtlpFields(fields: Iterable<string>): boolean {
  let isExport = false;
  for (const field of fields) {
    if (isChosenField(field)) return false;
    isExport ||= isOtlpField(field);
  }
  return isExport;
}

/** Maximum number of underscores for which stored spellings are tried; longer names are taken as stored. */
const maxUnderscores = 3;

/** Maps between stored names and client names; one per pipeline, shared by all requests. */
export class Naming {
  readonly labelStyle: NamesOptions['labelStyle'];
  readonly metadataMode: NamesOptions['metadataFieldMode'];
  readonly emitStructuredMetadata: boolean;
  readonly scansBodies: boolean;
  /** True when LogQL may use names with dots: `-logql-dotted-names` with `auto` resolved. */
  readonly dottedNames: 'reject' | 'accept';
  /** True when `limit`, `offset` and `search` apply to label listings: `-label-browse-extensions` with `auto` resolved. */
  readonly browseExtensions: boolean;
  /** Labels that are in every listing. */
  readonly extraLabels: ReadonlySet<string>;
  /** The texts that mean "no line was stored": a prefix, and a whole value (empty when there is none). */
  readonly missingLine: { readonly prefix: string; readonly exact: string };
  /** Identifies the field mapping; empty if there is none. */
  readonly mapping: string;
  readonly #settings: NamesOptions;
  readonly #promoted: ReadonlySet<string>;
  readonly #ofTenants: ReadonlyMap<string, Naming>;
  readonly #labelByField: ReadonlyMap<string, string>;
  readonly #fieldsByLabel: ReadonlyMap<string, readonly string[]>;
  readonly #columnsByLabel: ReadonlyMap<string, readonly string[]>;

  constructor(settings: NamesOptions) {
    const isReference = settings.labelStyle === 'underscores' && settings.metadataFieldMode === 'translated';
    this.#settings = settings;
    this.mapping = fingerprint(settings.fieldMapping);
    this.labelStyle = settings.labelStyle;
    this.metadataMode = settings.metadataFieldMode;
    this.emitStructuredMetadata = settings.emitStructuredMetadata;
    this.scansBodies = settings.detectedLevelBodyScan;
    this.dottedNames =
      settings.logqlDottedNames === 'auto' ? (isReference ? 'reject' : 'accept') : settings.logqlDottedNames;
    this.browseExtensions =
      settings.labelBrowseExtensions === 'auto'
        ? !isReference || settings.labelValuesIndexedCache
        : settings.labelBrowseExtensions === 'on';
    this.missingLine = { prefix: defaultMissingText, exact: settings.backendDefaultMsgValue };
    this.#promoted = new Set([...settings.promotedAttributes, ...settings.streamFields]);
    const lists = Object.entries(settings.tenantPromotedAttributes);
    this.#ofTenants = new Map(
      lists.map(([id, promotedAttributes]) => [
        id,
        new Naming({ ...settings, promotedAttributes, tenantPromotedAttributes: {} }),
      ]),
    );
    this.#labelByField = new Map(settings.fieldMapping.map((alias) => [alias.vl_field, alias.loki_label]));
    this.#fieldsByLabel = groupByLabel(settings);
    this.extraLabels = new Set(settings.extraLabelFields.map((name) => this.#shownName(name)));
    this.#columnsByLabel = this.#declaredColumns();
  }

  /** Plain data from which another thread can create the same naming. */
  get settings(): NamesOptions {
    return this.#settings;
  }

  /** The naming for one tenant, which may have its own promoted attributes. */
  forTenant({ id }: Pick<Tenant, 'id'>): Naming {
    return this.#ofTenants.get(id) ?? this;
  }

  /**
   * True if a stream with these fields came from an OpenTelemetry exporter, so that Loki would keep most of them as structured metadata
   * (docs/loki-view.md).
   */
  isOtlpStream(fields: Iterable<string>): boolean {
    return this.#settings.streamLabels === 'auto'
      ? hasOtlpFields(fields)
      : this.#settings.streamLabels === 'promoted';
  }

  /** The label for a stream field; undefined if Loki keeps the field as structured metadata. */
  labelOf(field: string, isOtlp = this.#settings.streamLabels === 'promoted'): string | undefined {
    const alias = this.#labelByField.get(field);
    if (alias !== undefined) return alias;
    if (this.labelStyle === 'passthrough') return field;
    if (field === eventName) return undefined;
    if (isLegalLabel(field)) return field;
    const isMetadata = isOtlp && this.#settings.streamLabels !== 'all' && !this.#isPromoted(field);
    return isMetadata ? undefined : this.sanitized(field, false);
  }

  /**
   * The stream fields that may hold a label: those that options name, and those in a list of stored fields. Sorted by precedence (see
   * `precedes`).
   */
  fieldsOf(label: string, stored: Iterable<string> = []): readonly string[] {
    const fields = new Set<string>(this.#fieldsByLabel.get(label) ?? []);
    if (this.labelOf(label) === label) fields.add(label);
    if (this.labelStyle === 'underscores') {
      const others = new Set<string>();
      for (const field of this.#promoted) if (this.labelOf(field, true) === label) others.add(field);
      for (const field of stored) if (this.labelOf(field) === label) others.add(field);
      for (const field of [...others].sort(textOrder)) fields.add(field);
    }
    // If the grammar allows dots, a query may also use the stored name.
    if (fields.size === 0 && this.dottedNames === 'accept' && label.includes('.')) fields.add(label);
    if (!this.#settings.translateOtelAttributes)
      for (const field of fields)
        if (field.includes('.') && field !== label && !this.#labelByField.has(field)) fields.delete(field);
    return [...fields];
  }

  /**
   * True if stored stream fields other than those of `fieldsOf` may become the label, since characters other than letters and digits become
   * underscores.
   */
  mayHaveOtherFields(label: string): boolean {
    return this.labelStyle === 'underscores' && this.#settings.translateOtelAttributes && label.includes('_');
  }

  /** True if a stream field takes precedence over another field with the same label. */
  precedes(field: string, other: string, label: string): boolean {
    const order = this.#fieldsByLabel.get(label) ?? [];
    const rank = (name: string): number => {
      const declared = order.indexOf(name);
      return declared >= 0 ? declared : order.length + (name === label ? 0 : 1);
    };
    return rank(field) - rank(other) < 0 || (rank(field) === rank(other) && textOrder(field, other) < 0);
  }

  /**
   * The stored fields of a label that options declare and that need not be stream fields: such a label is found in the columns of rows.
   * Sorted by precedence, as in `fieldsOf`; empty for other labels.
   */
  columnsOf(label: string): readonly string[] {
    return this.#columnsByLabel.get(label) ?? [];
  }

  /** The name by which a selector refers to a stored name: its label, if the field is one. */
  selectorName(name: string): string {
    if (this.dottedNames === 'reject' || isLegalLabel(name)) return name;
    const label = this.labelOf(name, true);
    if (label !== undefined) return label;
    const shown = this.#shownName(name);
    return this.extraLabels.has(shown) ? shown : name;
  }

  /** The name in entries for a stored name in a query. */
  entryName(name: string): string {
    const isShown = this.labelStyle === 'passthrough' || this.dottedNames === 'reject';
    if (isShown || isLegalLabel(name)) return name;
    return this.labelOf(name, true) ?? (this.metadataMode === 'translated' ? sanitizeOtel(name) : name);
  }

  /** The stream fields that determine `service_name`; the first one with a value is used. */
  serviceFields(stored: readonly string[] = []): readonly string[] {
    const fields = new Set<string>();
    for (const label of [serviceNameLabel, ...serviceDiscoveryLabels]) {
      for (const field of this.fieldsOf(label, stored)) fields.add(field);
      if (this.labelStyle === 'passthrough')
        for (const field of this.#promoted) if (sanitizeOtel(field) === label) fields.add(field);
    }
    return [...fields];
  }

  /** The names under which structured metadata is shown: the client's name, the stored name, or both. */
  metadataNames(field: string, fromOtlp: boolean): readonly string[] {
    const alias = this.#labelByField.get(field);
    if (alias !== undefined) return [alias];
    if (this.labelStyle === 'passthrough' || this.metadataMode === 'native') return [field];
    const translated = this.sanitized(field, fromOtlp);
    return this.metadataMode === 'hybrid' && translated !== field ? [field, translated] : [translated];
  }

  /** A stored metadata name in Loki's form. */
  sanitized(field: string, fromOtlp: boolean): string {
    return fromOtlp ? sanitizeOtel(field) : sanitizePushed(field);
  }

  /** True when a row with this `_msg` has no stored line (docs/protocol/answers.md#log-line-source). */
  isMissingLine(msg: string): boolean {
    return (
      msg === '' ||
      (msg.startsWith('m') && msg.startsWith(this.missingLine.prefix)) ||
      (this.missingLine.exact !== '' && msg === this.missingLine.exact)
    );
  }

  #isPromoted(field: string): boolean {
    if (this.#promoted.has(field)) return true;
    for (let dot = field.lastIndexOf('.'); dot > 0; dot = field.lastIndexOf('.', dot - 1)) {
      if (this.#promoted.has(field.slice(0, dot))) return true;
    }
    return false;
  }

  /**
   * Columns of mapped and extra fields. Fields that `-stream-fields` declares as stream fields are left out, since the stream index finds
   * them faster.
   */
  #declaredColumns(): ReadonlyMap<string, readonly string[]> {
    const { fieldMapping, extraLabelFields, streamFields } = this.#settings;
    const declared = [
      ...fieldMapping.map((alias) => [alias.loki_label, [alias.vl_field]] as const),
      ...extraLabelFields.map((name) => [this.#shownName(name), this.#spellings(name)] as const),
    ];
    const columns = new Map<string, Set<string>>();
    for (const [label, fields] of declared) {
      // The service name always comes from streams.
      if (label === serviceNameLabel || fields.every((field) => streamFields.includes(field))) continue;
      columns.set(label, new Set([...(columns.get(label) ?? this.fieldsOf(label)), ...fields]));
    }
    return new Map([...columns].map(([label, fields]) => [label, [...fields]]));
  }

  /**
   * The stored fields that an entry of `-extra-label-fields` may refer to: the field itself, or spellings with dots in place of
   * underscores.
   */
  #spellings(name: string): readonly string[] {
    const mapped = this.#fieldsByLabel.get(name);
    if (mapped !== undefined) return mapped;
    if (this.labelStyle === 'passthrough' || !isLegalLabel(name)) return [name];
    const promoted = [...this.#promoted].filter((field) => sanitizeOtel(field) === name);
    const parts = name.split('_');
    if (promoted.length > 0 || parts.length - 1 > maxUnderscores) return [...promoted, name];
    return parts.reduce<string[]>(
      (starts, part) =>
        starts.length === 0 ? [part] : starts.flatMap((start) => [`${start}_${part}`, `${start}.${part}`]),
      [],
    );
  }

  #shownName(name: string): string {
    const alias = this.#labelByField.get(name);
    return alias ?? (this.labelStyle === 'passthrough' ? name : sanitizeOtel(name));
  }
}

function fingerprint(mapping: NamesOptions['fieldMapping']): string {
  if (mapping.length === 0) return '';
  return createHash('sha256').update(JSON.stringify(mapping)).digest('hex').slice(0, 16);
}

function groupByLabel(settings: NamesOptions): ReadonlyMap<string, readonly string[]> {
  const fields = new Map<string, string[]>();
  for (const alias of settings.fieldMapping) addTo(fields, alias.loki_label, alias.vl_field);
  return fields;
}
