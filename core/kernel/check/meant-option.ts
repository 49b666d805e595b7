import { definitionsOf, CORE_SECTIONS, type OptionDefinition, type OptionSchema } from '../options/index.js';
import type { DraftOptions, PipelineDraft } from '../pipeline/draft.js';
import { listWords } from './slot-order.js';

/** Advice on where an unknown option belongs: operators write its flag instead of its key, or put it in the wrong section. */
export function meantOption(
  draft: PipelineDraft,
  owner: DraftOptions | undefined,
  key: string,
): string | undefined {
  const own = owner === undefined ? [] : definitionsOf(owner.owner, owner.schema);
  const named = own.find((option) => isName(option, key));
  if (named !== undefined) return `did you mean "${named.key}"?`;
  const places = placesOf(draft, owner, key);
  return places.length === 0 ? undefined : `this is an option of ${listWords(places)}`;
}

/** Advice for an unknown key of the top level or of an entry: where it would be an option. */
export function meantBeside(
  draft: PipelineDraft,
  owner: DraftOptions | undefined,
  key: string,
): string | undefined {
  const own = owner === undefined ? [] : definitionsOf(owner.owner, owner.schema);
  const option = own.find((each) => isName(each, key));
  if (option !== undefined) {
    const name = option.key === key ? 'it' : `"${option.key}"`;
    return `move ${name} under "with", where options belong`;
  }
  return meantOption(draft, owner, key);
}

/** The sections and plugins of the file that have such an option; if none has it, built-in plugins that could. */
function placesOf(draft: PipelineDraft, owner: DraftOptions | undefined, key: string): readonly string[] {
  const sections: readonly string[] = CORE_SECTIONS;
  const has = (schema: OptionSchema = {}): boolean =>
    definitionsOf('', schema).some((option) => isName(option, key));
  const inSections = sections.filter((name) => has(draft.schemas.get(name)));
  const inFile = draft.entries.filter(({ options }) => options !== owner && has(options?.schema));
  const found = [
    ...inSections.map((name) => `section "${name}"`),
    ...inFile.map(({ id }) => `plugin "${id}"`),
  ].filter((place) => place !== owner?.owner);
  if (found.length > 0) return [...new Set(found)].slice(0, 6);
  return [...draft.schemas]
    .filter(([name, schema]) => !sections.includes(name) && has(schema))
    .map(([name]) => `plugin "${name}"`)
    .filter((place) => place !== owner?.owner)
    .slice(0, 3);
}

/** True if a word is another name of an option: its flag, its variable, or its key with dashes, underscores or another case. */
function isName({ key, flag, shares, env }: OptionDefinition, word: string): boolean {
  const bare = word.replace(/^-+/, '');
  return bare === flag || bare === shares || env.includes(bare) || plainName(bare) === plainName(key);
}

function plainName(word: string): string {
  return word.replace(/[-_.]/g, '').toLowerCase();
}
