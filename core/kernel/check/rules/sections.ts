import { isPublishedByDefault } from '../../../wire/limits/published.js';
import { isReadLimit, limitFields } from '../../../wire/limits/fields.js';
import { editDistance, suggest } from '../../options/index.js';
import { entryOf, valueOf, type LocatedNode } from '../../pipeline/located.js';
import type { PipelineDraft } from '../../pipeline/draft.js';
import { findOption, howToSet, isFilled, type FoundOption } from '../option-lookup.js';
import { textRules, type Complaint } from '../rule.js';

export const sectionsRules = textRules('meaning', [
  {
    id: 'R040',
    title: 'passthrough labels require dotted names in queries',
    severity: 'warning',
    docs: 'With `labelStyle: passthrough`, labels have their dotted backend names. With `logqlDottedNames: reject`, queries cannot use dotted names, so those labels cannot be queried. The specification allows this combination, so it is only a warning.',
    check(draft) {
      const style = findOption(draft, 'label-style');
      const dotted = findOption(draft, 'logql-dotted-names');
      if (style?.value !== 'passthrough' || dotted?.value !== 'reject') return [];
      const message = `${dotted.name} "reject" contradicts ${style.name} "passthrough": labels with dots cannot be queried`;
      return [{ at: dotted.at, message, fix: 'use "accept" or "auto"' }];
    },
  },
  {
    id: 'R042',
    title: 'client certificates require a CA',
    docs: '`tlsRequireClientCert` refuses clients without a certificate signed by a CA in `tlsClientCaFile`; without that file, no client certificate can be verified.',
    check(draft) {
      const required = findOption(draft, 'tls-require-client-cert');
      const authority = findOption(draft, 'tls-client-ca-file');
      if (required?.value !== true || isFilled(authority)) return [];
      const message = 'tls-client-ca-file is required when tls-require-client-cert is enabled';
      return [{ at: required.at, message, fix: `set ${howToSet(authority, 'tls-client-ca-file')}` }];
    },
  },
  {
    id: 'R043',
    title: 'a certificate has its key',
    docs: 'HTTPS requires `tlsCertFile` and `tlsKeyFile`; with only one of them, or with a CA for client certificates but without them, the listener would stay on plain HTTP.',
    check(draft) {
      const cert = findOption(draft, 'tls-cert-file');
      const key = findOption(draft, 'tls-key-file');
      const authority = findOption(draft, 'tls-client-ca-file');
      const setCert = `set ${howToSet(cert, 'tls-cert-file')}`;
      const complain = ({ at, name }: FoundOption, flag: string, fix: string): readonly Complaint[] => [
        { at, message: `${name} is set without ${flag}: HTTPS requires both`, fix },
      ];
      if (isFilled(cert) && !isFilled(key))
        return complain(cert, 'tls-key-file', `set ${howToSet(key, 'tls-key-file')}`);
      if (isFilled(key) && !isFilled(cert)) return complain(key, 'tls-cert-file', setCert);
      if (!isFilled(authority) || isFilled(cert)) return [];
      const message = `${authority.name} is set without tls-cert-file and tls-key-file: without HTTPS, clients cannot present certificates`;
      return [{ at: authority.at, message, fix: `${setCert} and ${howToSet(key, 'tls-key-file')}` }];
    },
  },
  {
    id: 'R051',
    title: 'a tenant limit has an effect',
    severity: 'warning',
    docs: 'Tenant limits accept every field of Loki, but most of them are about storing logs, which this proxy does not do: they limit nothing, and clients do not see them. The same is true of a misspelt field. To only show a field to clients, add it to `-tenant-limits-allow-publish`.',
    check: (draft) => [
      ...complaintsOf(draft, 'tenant-default-limits', (found) => [[found.value, found.node]]),
      ...complaintsOf(draft, 'tenant-limits', ({ value, node }) =>
        Object.entries<unknown>({ ...objectOf(value) }).map(([tenant, fields]) => [
          fields,
          valueOf(node, tenant),
        ]),
      ),
    ],
  },
]);

/** Maximum edit distance of a typo, because a field of another program may have a similar name. */
const nearness = 2;

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
      const message = `limit "${field}"${place} does not apply to any request`;
      const fix =
        meant === undefined
          ? 'remove it: it has no effect, and clients do not see it'
          : `did you mean "${meant}"?`;
      return [{ at, message, fix }];
    }),
  );
}

function meantBy(field: string): string | undefined {
  const meant = suggest(field, [...limitFields.keys(), 'otlp_config']);
  return meant !== undefined && editDistance(field, meant) <= nearness ? meant : undefined;
}

function objectOf(value: unknown): object {
  return typeof value === 'object' && value !== null ? value : {};
}
