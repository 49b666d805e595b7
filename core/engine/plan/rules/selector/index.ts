import { declaredLabel } from './declared-label.js';
import { serviceName } from './service-name.js';
import { streamMatcher } from './stream-matcher.js';

/** The rules about a matcher of a stream selector, in the order they are tried. */
export const selectorRules = [serviceName, declaredLabel, streamMatcher] as const;
