import { lineAddress } from './address.js';
import { lineContains } from './contains.js';
import { lineLiteralRegexp } from './literal-regexp.js';
import { lineNetwork } from './network.js';
import { linePattern } from './pattern.js';
import { linePatternNot } from './pattern-not.js';
import { lineRegexp } from './regexp.js';
import { lineRegexpAll } from './regexp-all.js';
import { lineRegexpDots } from './regexp-dots.js';
import { lineRegexpDotsNot } from './regexp-dots-not.js';
import { lineRegexpFold } from './regexp-fold.js';
import { lineRegexpFoldNot } from './regexp-fold-not.js';
import { lineReplacement } from './replacement.js';
import { lineReplacementNot } from './replacement-not.js';

/** The rules about one alternative of a line filter, in the order they are tried; the first that it falls under decides. */
export const lineRules = [
  lineAddress,
  lineNetwork,
  lineReplacementNot,
  lineReplacement,
  lineContains,
  linePattern,
  linePatternNot,
  lineLiteralRegexp,
  lineRegexpAll,
  lineRegexpDotsNot,
  lineRegexpDots,
  lineRegexpFoldNot,
  lineRegexpFold,
  lineRegexp,
] as const;
