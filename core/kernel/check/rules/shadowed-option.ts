import { join, sep } from 'node:path';
import { decodeValue, nameOfSource, packageRoot } from '../../options/index.js';
import { entryOf, toPlain } from '../../pipeline/located.js';
import type { DraftOptions, PipelineDraft } from '../../pipeline/draft.js';
import type { Complaint, TextRule } from '../rule.js';

/** R056: a value in the file is the one that counts. */
export const shadowedOption: TextRule = {
  id: 'R056',
  title: 'what the file says counts',
  tier: 'meaning',
  severity: 'warning',
  docs: 'A flag or an environment variable gives the option another value, so that the one in the file has no effect. The files in `pipelines/` of this package are meant to be overridden and are left out.',
  check(draft) {
    if (isShipped(draft)) return [];
    const entries = draft.entries.flatMap(({ isEnabled, options }) => (isEnabled ? (options ?? []) : []));
    return [...draft.sections.values(), ...entries].flatMap(shadowed);
  },
};

function shadowed({ schema, node, resolved }: DraftOptions): readonly Complaint[] {
  return [...resolved.origins].flatMap(([key, origin]) => {
    const written = entryOf(node, key);
    if (written === undefined || (origin.kind !== 'flag' && origin.kind !== 'env')) return [];
    const value = decodeValue(schema.properties?.[key] ?? {}, toPlain(written.value));
    if (JSON.stringify(value) === JSON.stringify(resolved.options[key])) return [];
    const message = `option "${key}" has no effect: ${nameOfSource(origin)} gives another value`;
    return [
      {
        at: written.keyAt,
        message,
        fix: `take it out of the file, or do without the ${origin.kind === 'flag' ? 'flag' : 'variable'}`,
      },
    ];
  });
}

function isShipped({ source }: PipelineDraft): boolean {
  return source.path.startsWith(join(packageRoot(), 'pipelines') + sep);
}
