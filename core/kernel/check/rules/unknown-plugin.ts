import type { TextRule } from '../rule.js';

/** R020: every `use` names a module that exists. */
export const unknownPlugin: TextRule = {
  id: 'R020',
  title: 'a plugin exists',
  tier: 'meaning',
  severity: 'error',
  docs: '`use` is the name of a built-in plugin, the path of a module (`./x.js`, `../x.js` from the folder of the file, or absolute), or an npm package that is installed where the file stands.',
  check: (draft) =>
    draft.entries.flatMap(({ load, useAt }) =>
      load.kind === 'unknown'
        ? [{ at: useAt, message: load.message, ...(load.fix === undefined ? {} : { fix: load.fix }) }]
        : [],
    ),
};
