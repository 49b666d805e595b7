export {
  formatFloatFixed,
  formatFloatPlain,
  formatFloatShort,
  maxInt64,
  minInt64,
  parseGoFloat,
  parseGoInt,
  type Parsed,
} from './go-syntax.js';
export { quoteGo } from '../label-set.js';
export {
  durationToMs,
  goDurationFault,
  nanosPerSecond,
  parseGoDuration,
  parsePrometheusDuration,
  printGoDuration,
  printPrometheusDuration,
  type ParsedDuration,
} from './go-syntax.js';
export {
  fits64,
  formatSeconds,
  parseMoment,
  parseRfc3339,
  parseTimestamp,
  printRfc3339,
  TimestampError,
} from './go-syntax.js';
