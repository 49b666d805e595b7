export {
  formatFloatFixed,
  formatFloatPlain,
  formatFloatShort,
  maxInt64,
  minInt64,
  parseGoFloat,
  parseGoInt,
  type Parsed,
} from './go-number.js';
export { quoteGo } from './go-quote.js';
export {
  durationToMs,
  goDurationFault,
  nanosPerSecond,
  parseGoDuration,
  parsePrometheusDuration,
  printGoDuration,
  printPrometheusDuration,
  type ParsedDuration,
} from './duration.js';
export {
  fits64,
  formatSeconds,
  parseMoment,
  parseRfc3339,
  parseTimestamp,
  printRfc3339,
  TimestampError,
} from './timestamp.js';
