export { maxInt64, minInt64, parseGoFloat, parseGoInt } from './go-number.js';
export { quoteGo } from './go-quote.js';
export {
  DurationError,
  durationToMs,
  nanosPerSecond,
  parseGoDuration,
  parsePrometheusDuration,
  printGoDuration,
  printPrometheusDuration,
} from './duration.js';
export {
  fits64,
  parseMoment,
  parseRfc3339,
  parseTimestamp,
  printRfc3339,
  TimestampError,
} from './timestamp.js';
