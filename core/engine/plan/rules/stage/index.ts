import { labelRewrite } from './label-rewrite.js';
import { lineAfterChange } from './line-after-change.js';
import { lineRewrite } from './line-rewrite.js';
import { parser } from './parser.js';

/** The rules about stages that are always evaluated here. */
export const stageRules = [lineAfterChange, lineRewrite, parser, labelRewrite] as const;
