import type { Stage } from '../../../../logql/ast.js';
import { kindOfRule } from '../rule.js';

/** Defines a rule about stages that the backend knows nothing like. */
export const stageRule = kindOfRule<Stage, never, [], 'none'>();
