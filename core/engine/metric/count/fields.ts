import { detectedLevelName } from '../../../victoria/names/level.js';
import { levelNames } from '../../../victoria/names/level-words.js';
import type { Naming } from '../../../victoria/names/naming.js';
import type { StreamIdentity } from '../../../victoria/names/stream-identity.js';
import type { Inventory } from './inventory.js';

const severityNumber = 'severity_number';
const levelMetadata: ReadonlySet<string> = new Set([...levelNames, severityNumber, detectedLevelName]);

/** The fields that, beside the stream, decide what labels of these names a row has. */
export interface DecidingFields {
  readonly all: readonly string[];
  /** Those of them that hold a level by Loki's list of names: with a value in one of them nobody looks at the line. */
  readonly levels: readonly string[];
  /** Whether any of them may tell a level. */
  readonly mayTellLevel: boolean;
  /** Streams of other backends' exporters are among them, whose fields may be filled in or named otherwise. */
  readonly hasOtlp: boolean;
}

/** Finds them; a label that all streams have needs none. */
export function decidingFields(
  names: ReadonlySet<string> | 'all',
  { streams, fields }: Inventory,
  naming: Naming,
): DecidingFields {
  const identities = [...streams.values()];
  const hasOtlp = identities.some(({ looksLikeOtlp }) => looksLikeOtlp);
  const isSeen = seenFields(names, identities, naming);
  const wantsLevel = hasName(names, detectedLevelName) && identities.some(({ level }) => level === undefined);
  const all = new Set<string>();
  const levels = new Set<string>();
  let mayTellLevel = false;
  for (const field of fields) {
    for (const fromOtlp of hasOtlp ? [false, true] : [false]) {
      if (isSeen(field, fromOtlp)) all.add(field);
      const sanitized = naming.sanitized(field, fromOtlp);
      if (!wantsLevel || !levelMetadata.has(sanitized)) continue;
      all.add(field);
      mayTellLevel = true;
      if (sanitized !== severityNumber && sanitized !== detectedLevelName) levels.add(field);
    }
  }
  if (all.size > 0 && hasOtlp && fields.includes(severityNumber)) all.add(severityNumber);
  return { all: [...all], levels: [...levels], mayTellLevel, hasOtlp };
}

export function hasName(names: ReadonlySet<string> | 'all', name: string): boolean {
  return names === 'all' || names.has(name);
}

/** Whether a stored field can be seen in labels of these names. */
function seenFields(
  names: ReadonlySet<string> | 'all',
  streams: readonly StreamIdentity[],
  naming: Naming,
): (field: string, fromOtlp: boolean) => boolean {
  if (names === 'all') return (field) => !streams.every(({ fields }) => fields.has(field));
  const open = new Set([...names].filter((name) => !streams.every(({ labelNames }) => labelNames.has(name))));
  return (field, fromOtlp) =>
    naming.metadataNames(field, fromOtlp).some((name) => open.has(name) || names.has(`${name}_extracted`));
}
