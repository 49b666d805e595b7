import { quoteGoText } from '../fmt/quote.js';
import { byteLength } from '../../values/raw-bytes.js';
import { printGoTime, GoTime, zeroTime } from '../time/go-time.js';
import { parseGoTime } from '../time/parse.js';
import { loadZone, local, type Zone } from '../time/zone.js';
import { maxInt64, minInt64 } from '../../../base/time/index.js';
import { concrete, GoInt, type GoValue } from '../values.js';
import { GoError, ofText, ofTexts, textArgument, time, type GoFunction } from './types.js';

/** The current time, with the monotonic clock that Go prints. */
function now(): GoTime {
  const shown = GoTime.fromNanoseconds(BigInt(Date.now()) * 1_000_000n);
  return new GoTime(shown.unix, shown.nanosecond, shown.zone, process.hrtime.bigint());
}

/** Formats a time or whole seconds; anything else means now. */
function date(layout: string, boxed: GoValue): string {
  const value = concrete(boxed);
  if (typeof value === 'object' && value.kind === 'time') return printGoTime(value.in(local), layout);
  const isSeconds = value instanceof GoInt && (value.type === 'int' || value.type === 'int64');
  return printGoTime(isSeconds ? new GoTime(Number(value.value), 0, local) : now(), layout);
}

/** An unparsable date gives the zero time, because Loki ignores the error. */
function toDate(layout: string, zone: Zone, subject: string): GoTime {
  return parseGoTime(layout, subject, zone) ?? zeroTime;
}

/** Nanoseconds per unit, by the number of digits of the timestamp. */
const unitsByLength = new Map([
  [5, 86_400_000_000_000n],
  [10, 1_000_000_000n],
  [13, 1_000_000n],
  [16, 1_000n],
  [19, 1n],
]);

function unixToTime(subject: string): GoTime {
  const fault = (cause: string): GoError => new GoError(`unable to parse time '${subject}': ${cause}`);
  const parsing = `strconv.ParseInt: parsing ${quoteGoText(subject)}`;
  if (!/^[+-]?[0-9]+$/.test(subject)) throw fault(`${parsing}: invalid syntax`);
  const value = BigInt(subject.replace(/^\+/, ''));
  if (value < minInt64 || value > maxInt64) throw fault(`${parsing}: value out of range`);
  const unit = unitsByLength.get(byteLength(subject));
  if (unit === undefined) throw fault('%!w(<nil>)');
  return GoTime.fromNanoseconds(value * unit);
}

function ofTime(apply: (subject: GoTime) => GoValue): GoFunction {
  return { parameters: ['time.Time'], call: ([subject]) => apply(time(subject)) };
}

/** Go's Time.UnixMilli, which rounds down. */
export function unixMillis(subject: GoTime): bigint {
  return BigInt(subject.unix) * 1000n + BigInt(Math.floor(subject.nanosecond / 1e6));
}

/** Go's Time.UnixNano, which overflows for times centuries away. */
export function unixNanos(subject: GoTime): bigint {
  return BigInt.asIntN(64, subject.nanoseconds);
}

export const dateFunctions: Readonly<Record<string, GoFunction>> = {
  now: { parameters: [], call: now },
  date: {
    parameters: ['string', 'any'],
    weight: 8,
    stepsPerArgument: 3,
    call: ([layout, value]) => date(textArgument(layout), value),
  },
  toDate: ofTexts((layout, subject) => toDate(layout, local, subject), 8),
  toDateInZone: {
    parameters: ['string', 'string', 'string'],
    weight: 8,
    // A zone takes a while to load the first time.
    stepsPerArgument: 40,
    call: ([layout, zone, subject]) =>
      toDate(textArgument(layout), loadZone(textArgument(zone)), textArgument(subject)),
  },
  unixToTime: ofText(unixToTime),
  unixEpoch: ofTime((subject) => String(subject.unix)),
  unixEpochMillis: ofTime((subject) => unixMillis(subject).toString()),
  unixEpochNanos: ofTime((subject) => unixNanos(subject).toString()),
};
