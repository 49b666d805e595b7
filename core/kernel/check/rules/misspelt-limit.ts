import { isPublishedByDefault, publishedByDefault } from '../../../wire/limits/published.js';
import { limitFields } from '../../../wire/limits/fields.js';
import { editDistance, suggest } from '../../options/index.js';
import { entryOf, valueOf, type LocatedNode } from '../../pipeline/located.js';
import type { PipelineDraft } from '../../pipeline/draft.js';
import { findOption, type FoundOption } from '../option-lookup.js';
import type { Complaint, TextRule } from '../rule.js';

/** A field of another program may have a similar name; one or two letters of difference is a typo. */
const nearness = 2;

/** R051: a limit that is not enforced is not a misspelt enforced one. */
export const misspeltLimit: TextRule = {
  id: 'R051',
  title: 'a limit is written as it is called',
  tier: 'meaning',
  severity: 'warning',
  docs: 'Limits of tenants may hold any field, since some are only published to clients. One that is nearly, but not quite, called as a limit that requests are held to would bound nothing.',
  check: (draft) => [
    ...complaintsOf(findOption(draft, 'tenant-default-limits'), (found) => [
      [found.value, nodeOf(draft, found)],
    ]),
    ...complaintsOf(findOption(draft, 'tenant-limits'), (found) => {
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
  found: FoundOption | undefined,
  fieldsOf: (found: FoundOption) => readonly Fields[],
): readonly Complaint[] {
  if (found === undefined) return [];
  return fieldsOf(found).flatMap(([value, node]) =>
    Object.keys(objectOf(value)).flatMap((field): readonly Complaint[] => {
      const meant = meantBy(field);
      if (meant === undefined) return [];
      const at = entryOf(node, field)?.keyAt ?? found.at;
      const place = found.origin.kind === 'yaml' ? '' : ` in ${found.name}`;
      const message = `limit "${field}"${place} is none that requests are held to`;
      return [{ at, message, fix: `did you mean "${meant}"?` }];
    }),
  );
}

function meantBy(field: string): string | undefined {
  if (limitFields.has(field) || isPublishedByDefault(field)) return undefined;
  const meant = suggest(field, [...limitFields.keys(), ...publishedByDefault]);
  return meant !== undefined && editDistance(field, meant) <= nearness ? meant : undefined;
}

/** The node of the value in the file, if the file set it. */
function nodeOf(draft: PipelineDraft, { definition, origin }: FoundOption): LocatedNode | undefined {
  return origin.kind === 'yaml' ? valueOf(draft.sections.get('limits')?.node, definition.key) : undefined;
}

function objectOf(value: unknown): object {
  return typeof value === 'object' && value !== null ? value : {};
}
