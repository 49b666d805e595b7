import { isPublishedByDefault } from '../../../wire/limits/published.js';
import { isReadLimit, limitFields } from '../../../wire/limits/fields.js';
import { editDistance, suggest } from '../../options/index.js';
import { entryOf, valueOf, type LocatedNode } from '../../pipeline/located.js';
import type { PipelineDraft } from '../../pipeline/draft.js';
import { findOption, type FoundOption } from '../option-lookup.js';
import type { Complaint, TextRule } from '../rule.js';

/** A field of another program may have a similar name; one or two letters of difference is a typo. */
const nearness = 2;

/** R051: something reads a limit. */
export const misspeltLimit: TextRule = {
  id: 'R051',
  title: 'a limit is one that something reads',
  tier: 'meaning',
  severity: 'warning',
  docs: 'Limits of tenants may hold any field of Loki, but most of them are about storing logs, which this proxy does not do: they bound nothing, and are not shown to clients. Neither is one that is misspelt. A field that is only to be shown is named in `-tenant-limits-allow-publish`.',
  check: (draft) => [
    ...complaintsOf(draft, 'tenant-default-limits', (found) => [[found.value, nodeOf(draft, found)]]),
    ...complaintsOf(draft, 'tenant-limits', (found) => {
      const node = nodeOf(draft, found);
      return Object.entries<unknown>({ ...objectOf(found.value) }).map(([tenant, fields]) => [
        fields,
        valueOf(node, tenant),
      ]);
    }),
  ],
};

type Fields = readonly [value: unknown, node: LocatedNode | undefined];

function complaintsOf(
  draft: PipelineDraft,
  flag: string,
  fieldsOf: (found: FoundOption) => readonly Fields[],
): readonly Complaint[] {
  const found = findOption(draft, flag);
  if (found === undefined) return [];
  const shown = findOption(draft, 'tenant-limits-allow-publish')?.value;
  const isShown = (field: string): boolean => Array.isArray(shown) && shown.includes(field);
  return fieldsOf(found).flatMap(([value, node]) =>
    Object.keys(objectOf(value)).flatMap((field): readonly Complaint[] => {
      const isKnown = isPublishedByDefault(field);
      if (isReadLimit(field) || (isShown(field) && !isKnown)) return [];
      const at = entryOf(node, field)?.keyAt ?? found.at;
      const place = found.origin.kind === 'yaml' ? '' : ` in ${found.name}`;
      const meant = isKnown ? undefined : meantBy(field);
      const message = `limit "${field}"${place} is none that requests are held to`;
      const fix =
        meant === undefined
          ? 'leave it out: nothing reads it, and clients are not shown it'
          : `did you mean "${meant}"?`;
      return [{ at, message, fix }];
    }),
  );
}

function meantBy(field: string): string | undefined {
  const meant = suggest(field, [...limitFields.keys(), 'otlp_config']);
  return meant !== undefined && editDistance(field, meant) <= nearness ? meant : undefined;
}

/** The node of the value in the file, if the file set it. */
function nodeOf(draft: PipelineDraft, { definition, origin }: FoundOption): LocatedNode | undefined {
  return origin.kind === 'yaml' ? valueOf(draft.sections.get('limits')?.node, definition.key) : undefined;
}

function objectOf(value: unknown): object {
  return typeof value === 'object' && value !== null ? value : {};
}
