import type { Rule } from '../rule.js';
import { chainRules } from './chain.js';
import { givenRules } from './given.js';
import { listenersRules } from './listeners.js';
import { machineRules } from './machine.js';
import { boundsRules, optionsRules } from './options.js';
import { pluginsRules } from './plugins.js';
import { sectionsRules } from './sections.js';
import { yamlRules } from './yaml.js';

/**
 * The checker's own rules in the order of their ids; plugins provide rules about their options (`lint` in core/kernel/plugin/contract.ts).
 */
export const rules: readonly Rule[] = [
  ...yamlRules,
  ...optionsRules,
  ...boundsRules,
  ...pluginsRules,
  ...chainRules,
  ...sectionsRules,
  ...listenersRules,
  ...givenRules,
  ...machineRules,
].sort((a, b) => (a.id < b.id ? -1 : 1));
