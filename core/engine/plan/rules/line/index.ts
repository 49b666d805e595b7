import { lineAnyCase } from './any-case.js';
import { lineAddress } from './address.js';
import { lineContains } from './contains.js';
import { lineNetwork } from './network.js';
import { lineNotEmpty } from './not-empty.js';
import { linePattern } from './pattern.js';
import { linePatternNot } from './pattern-not.js';
import { lineRegexp } from './regexp.js';
import { lineRegexpAll } from './regexp-all.js';
import { lineRegexpDots } from './regexp-dots.js';
import { lineRegexpDotsNot } from './regexp-dots-not.js';
import { lineReplacement } from './replacement.js';
import { lineReplacementNot } from './replacement-not.js';

/** The rules about one test of a line filter, in the order they are tried; the first that it falls under decides. */
export const lineRules = [
  lineAddress,
  lineNetwork,
  lineReplacementNot,
  lineReplacement,
  lineContains,
  linePatternNot,
  linePattern,
  lineAnyCase,
  lineNotEmpty,
  lineRegexpAll,
  lineRegexpDotsNot,
  lineRegexpDots,
  lineRegexp,
] as const;
