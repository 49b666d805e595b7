import { labelAddress } from './address.js';
import { labelAfterError } from './after-error.js';
import { labelDerived } from './derived.js';
import { labelFilledIn } from './filled-in.js';
import { labelInLine } from './in-line.js';
import { labelLevel } from './level.js';
import { labelMissing } from './missing.js';
import { labelNegated } from './negated.js';
import { labelNot } from './not.js';
import { labelNumber } from './number.js';
import { labelNumberInLine } from './number-in-line.js';
import { labelParsed } from './parsed.js';
import { labelText } from './text.js';

/** The rules about one comparison of a label, in the order they are tried; the first that it falls under decides. */
export const labelRules = [
  labelInLine,
  labelNumberInLine,
  labelParsed,
  labelLevel,
  labelDerived,
  labelAfterError,
  labelAddress,
  labelNumber,
  labelText,
  labelFilledIn,
  labelMissing,
  labelNot,
  labelNegated,
] as const;
