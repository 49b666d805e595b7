import { createHash } from 'node:crypto';
import type { Tenant } from '../../base/caller.js';
import type { NamesOptions } from '../../base/options.gen.js';
import { defaultMissingText } from './missing-line.js';
import { defaultPromotedAttributes } from './promoted.js';
import { isLegalLabel, sanitizeOtel, sanitizePushed } from './sanitize.js';
import { serviceDiscoveryLabels, serviceNameLabel } from './service-name.js';

export type LabelStyle = 'underscores' | 'passthrough';
export type MetadataFieldMode = 'translated' | 'hybrid' | 'native';

/** The `names` options of a pipeline file (docs/protocol/answers.md#label-and-metadata-naming-modes). */
export type NamingSettings = NamesOptions;

/** The settings of the reference-compatible profile. */
export const defaultNamingSettings: NamingSettings = {
  labelStyle: 'underscores',
  metadataFieldMode: 'translated',
  emitStructuredMetadata: true,
  logqlDottedNames: 'auto',
  labelBrowseExtensions: 'auto',
  labelValuesIndexedCache: false,
  translateOtelAttributes: true,
  fieldMapping: [],
  streamFields: [],
  extraLabelFields: [],
  promotedAttributes: defaultPromotedAttributes,
  tenantPromotedAttributes: {},
  backendDefaultMsgValue: '',
  detectedLevelBodyScan: true,
};

// VictoriaLogs makes an event's name a stream field; Loki keeps it as structured metadata.
const neverLabels: ReadonlySet<string> = new Set(['event_name']);
const keptNames = 4096;
/** In names with more underscores these are what is stored. */
const maxUnderscores = 3;
/** A request may outlive one reload of the field mapping less. */
const keptMappings = 5;

/** Maps between stored names and client names; one per pipeline, shared by all requests. */
export class Naming {
  readonly labelStyle: LabelStyle;
  readonly metadataMode: MetadataFieldMode;
  readonly emitStructuredMetadata: boolean;
  readonly scansBodies: boolean;
  /** Whether LogQL may use names with dots: `-logql-dotted-names` with `auto` resolved. */
  readonly dottedNames: 'reject' | 'accept';
  /** Whether `limit`, `offset` and `search` apply to label listings: `-label-browse-extensions` with `auto` resolved. */
  readonly browseExtensions: boolean;
  /** Labels that are always listed. */
  readonly extraLabels: ReadonlySet<string>;
  /** The texts that mean "no line was stored": a prefix, and a whole value (empty when there is none). */
  readonly missingLine: { readonly prefix: string; readonly exact: string };
  /** Tells field mappings apart; empty without one. */
  readonly mapping: string;
  readonly #settings: NamingSettings;
  /** This one and those that reloads made of it, latest first, one list for all of them: running requests end as they began. */
  #family: Naming[] = [this];
  readonly #promoted: ReadonlySet<string>;
  readonly #ofTenants: ReadonlyMap<string, Naming>;
  readonly #nestedPrefixes: readonly string[];
  readonly #translatesOtel: boolean;
  readonly #labelByField: ReadonlyMap<string, string>;
  readonly #fieldsByLabel: ReadonlyMap<string, readonly string[]>;
  readonly #columnsByLabel: ReadonlyMap<string, readonly string[]>;
  readonly #pushedNames = new Map<string, string>();
  readonly #otelNames = new Map<string, string>();

  constructor(settings: NamingSettings) {
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
    this.#nestedPrefixes = [...this.#promoted].map((name) => `${sanitizeOtel(name)}_`);
    this.#translatesOtel = settings.translateOtelAttributes;
    this.#labelByField = new Map(settings.fieldMapping.map((alias) => [alias.vl_field, alias.loki_label]));
    this.#fieldsByLabel = groupByLabel(settings);
    this.extraLabels = new Set(settings.extraLabelFields.map((name) => this.#shownName(name)));
    this.#columnsByLabel = this.#declaredColumns();
  }

  /** Plain data of which another thread makes the same naming. */
  get settings(): NamingSettings {
    return this.#settings;
  }

  /** This naming with another field mapping; requests that began under this one find it there. */
  withMapping(fieldMapping: NamingSettings['fieldMapping']): Naming {
    const naming = new Naming({ ...this.#settings, fieldMapping });
    naming.#family = this.#family;
    this.#family.unshift(naming);
    this.#family.splice(keptMappings);
    return naming;
  }

  /** The naming for one tenant, which may have its own promoted attributes, and an earlier field mapping. */
  forTenant({ id, mapping = this.mapping }: Pick<Tenant, 'id' | 'mapping'>): Naming {
    const naming = this.#family.find((other) => other.mapping === mapping) ?? this;
    return naming.#ofTenants.get(id) ?? naming;
  }

  /** The label for a stream field; undefined when Loki keeps the field as structured metadata. */
  labelOf(field: string): string | undefined {
    const alias = this.#labelByField.get(field);
    if (alias !== undefined) return alias;
    if (this.labelStyle === 'passthrough') return field;
    if (neverLabels.has(field)) return undefined;
    if (isLegalLabel(field)) return field;
    return this.#isPromoted(field) ? sanitizeOtel(field) : undefined;
  }

  /** The stream fields that may hold a label, in order of precedence. Fields below map attributes are found by StoredNames. */
  fieldsOf(label: string): readonly string[] {
    const fields = new Set<string>(this.#fieldsByLabel.get(label) ?? []);
    if (this.labelOf(label) === label) fields.add(label);
    if (this.labelStyle === 'underscores') {
      for (const field of this.#promoted) if (this.labelOf(field) === label) fields.add(field);
    }
    // When the grammar allows dots, a query may also use the stored name.
    if (fields.size === 0 && this.dottedNames === 'accept' && label.includes('.')) fields.add(label);
    if (!this.#translatesOtel)
      for (const field of fields)
        if (field.includes('.') && field !== label && !this.#labelByField.has(field)) fields.delete(field);
    return [...fields];
  }

  /**
   * The stored fields of a label that options declare and that need not be one of streams: such a label is found in the columns of rows.
   * In order of precedence, as `fieldsOf`; empty for all others.
   */
  columnsOf(label: string): readonly string[] {
    return this.#columnsByLabel.get(label) ?? [];
  }

  /** The name under which a selector finds a stored name: its label, if the field is one. */
  selectorName(name: string): string {
    if (this.dottedNames === 'reject' || isLegalLabel(name)) return name;
    const label = this.labelOf(name);
    if (label !== undefined) return label;
    const shown = this.#shownName(name);
    return this.extraLabels.has(shown) ? shown : name;
  }

  /** The entry's name for a stored name in a query. */
  entryName(name: string): string {
    const isShown = this.labelStyle === 'passthrough' || this.dottedNames === 'reject';
    if (isShown || isLegalLabel(name)) return name;
    return this.labelOf(name) ?? (this.metadataMode === 'translated' ? sanitizeOtel(name) : name);
  }

  /** The stream fields that decide `service_name`; the first one with a value wins. */
  serviceFields(): readonly string[] {
    const fields = new Set<string>();
    for (const label of [serviceNameLabel, ...serviceDiscoveryLabels]) {
      for (const field of this.fieldsOf(label)) fields.add(field);
      if (this.labelStyle === 'passthrough')
        for (const field of this.#promoted) if (sanitizeOtel(field) === label) fields.add(field);
    }
    return [...fields];
  }

  /** The names under which structured metadata is shown: the client's, the stored, or both. */
  metadataNames(field: string, fromOtlp: boolean): readonly string[] {
    const alias = this.#labelByField.get(field);
    if (alias !== undefined) return [alias];
    if (this.labelStyle === 'passthrough' || this.metadataMode === 'native') return [field];
    const translated = this.sanitized(field, fromOtlp);
    return this.metadataMode === 'hybrid' && translated !== field ? [field, translated] : [translated];
  }

  /** A stored metadata name in Loki's form. */
  sanitized(field: string, fromOtlp: boolean): string {
    const known = fromOtlp ? this.#otelNames : this.#pushedNames;
    let name = known.get(field);
    if (name === undefined) {
      name = fromOtlp ? sanitizeOtel(field) : sanitizePushed(field);
      if (known.size < keptNames) known.set(field, name);
    }
    return name;
  }

  /** Whether a row with this `_msg` has no stored line (docs/protocol/answers.md#log-line-source). */
  isMissingLine(msg: string): boolean {
    return (
      msg === '' ||
      (msg.startsWith('m') && msg.startsWith(this.missingLine.prefix)) ||
      (this.missingLine.exact !== '' && msg === this.missingLine.exact)
    );
  }

  /** Whether the field is nested below a promoted map attribute, such as `k8s.pod.name.a`. */
  isNested(field: string): boolean {
    return this.labelStyle === 'underscores' && !this.#promoted.has(field) && this.#isPromoted(field);
  }

  /** Whether a label may come from nested fields whose stored names must be learned. */
  mayBeNested(label: string): boolean {
    if (this.labelStyle === 'passthrough' || !this.#translatesOtel) return false;
    for (const field of this.#promoted) if (sanitizeOtel(field) === label) return false;
    for (const prefix of this.#nestedPrefixes) if (label.startsWith(prefix)) return true;
    return false;
  }

  #isPromoted(field: string): boolean {
    if (this.#promoted.has(field)) return true;
    for (let dot = field.lastIndexOf('.'); dot > 0; dot = field.lastIndexOf('.', dot - 1)) {
      if (this.#promoted.has(field.slice(0, dot))) return true;
    }
    return false;
  }

  /** Of mapped fields and extra ones. Where `-stream-fields` says that a field is one of streams, their index finds it faster. */
  #declaredColumns(): ReadonlyMap<string, readonly string[]> {
    const { fieldMapping, extraLabelFields, streamFields } = this.#settings;
    const declared = [
      ...fieldMapping.map((alias) => [alias.loki_label, [alias.vl_field]] as const),
      ...extraLabelFields.map((name) => [this.#shownName(name), this.#spellings(name)] as const),
    ];
    const columns = new Map<string, Set<string>>();
    for (const [label, fields] of declared) {
      // The service is always made of streams.
      if (label === serviceNameLabel || fields.every((field) => streamFields.includes(field))) continue;
      columns.set(label, new Set([...(columns.get(label) ?? this.fieldsOf(label)), ...fields]));
    }
    return new Map([...columns].map(([label, fields]) => [label, [...fields]]));
  }

  /** The stored fields that an entry of `-extra-label-fields` can mean: the field itself, or those with dots for its underscores. */
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

function fingerprint(mapping: NamingSettings['fieldMapping']): string {
  if (mapping.length === 0) return '';
  return createHash('sha256').update(JSON.stringify(mapping)).digest('hex').slice(0, 16);
}

function groupByLabel(settings: NamingSettings): ReadonlyMap<string, readonly string[]> {
  const fields = new Map<string, string[]>();
  for (const alias of settings.fieldMapping) {
    const group = fields.get(alias.loki_label);
    if (group === undefined) fields.set(alias.loki_label, [alias.vl_field]);
    else group.push(alias.vl_field);
  }
  return fields;
}
