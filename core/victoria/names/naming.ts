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

// VictoriaLogs makes a stream field of an event's name; Loki keeps it as structured metadata.
const neverLabels: ReadonlySet<string> = new Set(['event_name']);
const keptNames = 4096;

/** How stored names and a client's names belong together; one per pipeline, shared by all requests. */
export class Naming {
  readonly labelStyle: LabelStyle;
  readonly metadataMode: MetadataFieldMode;
  readonly emitStructuredMetadata: boolean;
  readonly scansBodies: boolean;
  /** Whether names with dots are LogQL here: `-logql-dotted-names` with `auto` decided. */
  readonly dottedNames: 'reject' | 'accept';
  /** Whether `limit`, `offset` and `search` apply to label listings: `-label-browse-extensions` with `auto` decided. */
  readonly browseExtensions: boolean;
  /** Labels listed although no stream field need have them, with the backend field behind each. */
  readonly extraLabels: ReadonlyMap<string, string>;
  /** The texts that stand for "no line was stored": a prefix, and a whole value or the empty text for none. */
  readonly missingLine: { readonly prefix: string; readonly exact: string };
  readonly #promoted: ReadonlySet<string>;
  readonly #ofTenants: ReadonlyMap<string, Naming>;
  readonly #nestedPrefixes: readonly string[];
  readonly #translatesOtel: boolean;
  readonly #labelByField: ReadonlyMap<string, string>;
  readonly #fieldsByLabel: ReadonlyMap<string, readonly string[]>;
  readonly #pushedNames = new Map<string, string>();
  readonly #otelNames = new Map<string, string>();

  constructor(settings: NamingSettings) {
    const isReference = settings.labelStyle === 'underscores' && settings.metadataFieldMode === 'translated';
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
    this.extraLabels = new Map(
      settings.extraLabelFields
        .map((name) => this.#canonicalField(name))
        .map((field) => [this.#shownName(field), field]),
    );
  }

  /** The names as a tenant sees them, whose promoted attributes may be its own. */
  forTenant(id: string): Naming {
    return this.#ofTenants.get(id) ?? this;
  }

  /** The label that a stream field is shown as; undefined when Loki keeps such a field as structured metadata. */
  labelOf(field: string): string | undefined {
    const alias = this.#labelByField.get(field);
    if (alias !== undefined) return alias;
    if (this.labelStyle === 'passthrough') return field;
    if (neverLabels.has(field)) return undefined;
    if (isLegalLabel(field)) return field;
    return this.#isPromoted(field) ? sanitizeOtel(field) : undefined;
  }

  /** The stream fields that may hold a label, the one that wins first. Leaves of map attributes are told by StoredNames. */
  fieldsOf(label: string): readonly string[] {
    const fields = new Set<string>(this.#fieldsByLabel.get(label) ?? []);
    if (this.labelOf(label) === label) fields.add(label);
    if (this.labelStyle === 'underscores') {
      for (const field of this.#promoted) if (this.labelOf(field) === label) fields.add(field);
    }
    // Where the grammar lets dots through, a query may also use the stored spelling.
    if (fields.size === 0 && this.dottedNames === 'accept' && label.includes('.')) fields.add(label);
    if (!this.#translatesOtel)
      for (const field of fields)
        if (field.includes('.') && field !== label && !this.#labelByField.has(field)) fields.delete(field);
    return [...fields];
  }

  /** The name by which a selector finds what it calls by its stored name: the label, where the field is one. */
  selectorName(name: string): string {
    return this.dottedNames === 'reject' || isLegalLabel(name) ? name : (this.labelOf(name) ?? name);
  }

  /** The name that an entry has for what a query calls by its stored name. */
  entryName(name: string): string {
    const isShown = this.labelStyle === 'passthrough' || this.dottedNames === 'reject';
    if (isShown || isLegalLabel(name)) return name;
    return this.labelOf(name) ?? (this.metadataMode === 'translated' ? sanitizeOtel(name) : name);
  }

  /** The stream fields that decide `service_name`, first one with a value wins. */
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

  /** A stored metadata name in Loki's spelling. */
  sanitized(field: string, fromOtlp: boolean): string {
    const known = fromOtlp ? this.#otelNames : this.#pushedNames;
    let name = known.get(field);
    if (name === undefined) {
      name = fromOtlp ? sanitizeOtel(field) : sanitizePushed(field);
      if (known.size < keptNames) known.set(field, name);
    }
    return name;
  }

  /** True when a row with this `_msg` has no stored line (docs/protocol/answers.md#log-line-source). */
  isMissingLine(msg: string): boolean {
    return (
      msg === '' ||
      (msg.startsWith('m') && msg.startsWith(this.missingLine.prefix)) ||
      (this.missingLine.exact !== '' && msg === this.missingLine.exact)
    );
  }

  /** True for a leaf of a promoted map attribute, such as `k8s.pod.name.a`. */
  isNested(field: string): boolean {
    return this.labelStyle === 'underscores' && !this.#promoted.has(field) && this.#isPromoted(field);
  }

  /** True when a label may be made of leaves whose stored names have to be learned. */
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

  #canonicalField(name: string): string {
    for (const field of this.#promoted) if (sanitizeOtel(field) === name) return field;
    return name;
  }

  #shownName(field: string): string {
    return this.labelStyle === 'passthrough' ? field : (this.#labelByField.get(field) ?? sanitizeOtel(field));
  }
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
