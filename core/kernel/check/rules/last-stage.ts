import { builtInAnswerer } from '../built-in-givers.js';
import type { TextRule } from '../rule.js';
import { chainOf } from '../slot-order.js';

/** R033: the last stage answers by itself. */
export const lastStage: TextRule = {
  id: 'R033',
  title: 'the last stage answers',
  tier: 'meaning',
  severity: 'error',
  isAboutWhole: true,
  docs: 'Behind the last stage there is nothing, so it must answer by itself (`rest: never`). Of the built-in stages `response-shape` does.',
  check(draft) {
    const { stages, isWhole } = chainOf(draft);
    const last = stages.at(-1);
    // A stage that answers but is not last is reported by R034.
    if (!isWhole || last === undefined || stages.some((stage) => stage.plugin.rest === 'never')) return [];
    const message = `"${last.entry.id}" is the last stage but runs the rest of the chain: no stage answers`;
    const disabled = draft.entries.find(
      ({ list, isEnabled, load }) =>
        list === 'stages' &&
        !isEnabled &&
        load.kind === 'loaded' &&
        load.plugin.kind === 'stage' &&
        load.plugin.rest === 'never',
    );
    const fix =
      disabled === undefined
        ? `end the list with a stage that answers, such as "- use: ${builtInAnswerer}"`
        : `enable "${disabled.id}" (line ${disabled.at.line}), which answers`;
    return [{ at: last.entry.at, message, fix }];
  },
};
