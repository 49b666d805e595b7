import type { TextRule } from '../rule.js';

/** R021: the module named by `use` is a plugin. */
export const brokenPlugin: TextRule = {
  id: 'R021',
  title: 'a module is a plugin',
  tier: 'meaning',
  severity: 'error',
  docs: 'The module exists but fails while it is loaded, has no default export made with defineStage, defineEndpoint or defineService, brings a schema that cannot be used, or declares metrics or routes that cannot be: names, types, labels, paths that are taken. Checking a file runs the top level of the modules it names.',
  check: (draft) =>
    draft.entries.flatMap(({ load, use, useAt }) =>
      load.kind === 'broken'
        ? [
            {
              at: useAt,
              message: `plugin "${use}" ${load.message}`,
              ...(load.fix === undefined ? {} : { fix: load.fix }),
            },
          ]
        : [],
    ),
};
