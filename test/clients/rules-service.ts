import { list, members, present, text } from './check.js';
import { recording, withVmalert } from '../plugins/rules/fake-vmalert.js';
import type { Stage } from './stage.js';

/** A rule group of the rules service; its file is Loki's namespace. */
export interface KnownGroup {
  readonly file: string;
  readonly name: string;
  readonly rules: readonly unknown[];
}

function readGroups(): readonly KnownGroup[] {
  const data = members(members(JSON.parse(recording('rules').toString('utf8')), 'rules').get('data'), 'data');
  return list(data.get('groups'), 'groups').map((item) => {
    const group = members(item, 'a group');
    return {
      file: text(group.get('file'), 'file'),
      name: text(group.get('name'), 'name'),
      rules: list(group.get('rules'), 'rules'),
    };
  });
}

/** The groups of the service: a recording of vmalert. Files and groups have slashes in their names. */
export const knownGroups: readonly KnownGroup[] = readGroups();

/** A namespace and a group that can be requested separately; their names have slashes. */
export const slashed = {
  namespace: 'rules/checkout.yml',
  group: present(
    knownGroups.find(({ name }) => name === 'logs/errors'),
    'the group logs/errors',
  ),
};

/** Starts a rules service and a proxy that uses it, while a feature runs. */
export async function withRules<Result>(
  stage: Stage,
  use: (url: string) => Promise<Result>,
): Promise<Result> {
  return withVmalert(async ({ url }) => use(await stage.proxyUrl({ 'ruler-backend': url })));
}
