import { printGoDuration } from '../../../base/time/index.js';
import { unixOfYearOne, type GoTime, monthName, weekdayName, monthNames } from '../time/go-time.js';
import { concrete, GoInterface, typeName, GoInt, type Concrete, type GoValue } from '../values.js';
import { type Sink, pad, truncate, type Directive } from './directive.js';
import { isPrintable } from '../library/characters.js';
import { toBytes } from '../../values/raw-bytes.js';
import { formatFloat, type FloatVerb } from './float.js';
import { canBackquote, isCharacter, quoteCharacter, quoteGoText } from './quote.js';

const stringVerbs = 'vsxXq';
const addressVerbs = 'bodxX';
const nowhere = new GoInt(0n);

/** Prints values by one directive of a format. */
export class ValuePrinter {
  readonly #sink: Sink;
  readonly #flags: Readonly<Directive>;
  /** Inside `%!d(...)` values are printed without their own String methods. */
  #isErroring = false;

  constructor(sink: Sink, flags: Readonly<Directive>) {
    this.#sink = sink;
    this.#flags = flags;
  }

  argument(boxed: GoValue, verb: string): void {
    const value = concrete(boxed);
    if (verb === 'T') {
      const type = typeName(value);
      this.#sink.add(pad(value === undefined ? type : truncate(type, this.#flags.precision), this.#flags));
    } else if (value !== undefined) this.#value(value, verb);
    else if (verb === 'v') this.#sink.add(pad('<nil>', this.#flags));
    else this.#sink.add(`%!${verb}(<nil>)`);
  }

  #value(value: Exclude<Concrete, undefined>, verb: string): void {
    const text = this.#basic(value, verb);
    if (text !== undefined) this.#sink.add(text);
    else if (verb === 'w' || typeof value !== 'object' || !this.#composite(value, verb))
      this.#bad(value, verb);
  }

  #bad(value: Exclude<Concrete, undefined>, verb: string): void {
    this.#sink.add(`%!${verb}(${typeName(value)}=`);
    this.#isErroring = true;
    this.#value(value, 'v');
    this.#isErroring = false;
    this.#sink.add(')');
  }

  /** Values printed as a single piece; undefined when the verb does not fit or the value has parts. */
  #basic(value: Exclude<Concrete, undefined>, verb: string): string | undefined {
    const flags = this.#flags;
    switch (typeof value) {
      case 'string':
        return formatString(value, verb, flags);
      case 'number':
        return formatFloatVerb(value, verb, flags);
      case 'boolean':
        return formatBoolean(value, verb, flags);
      case 'object':
        switch (value.kind) {
          case 'int':
            return this.#integer(value, verb);
          case 'time':
            if (flags.sharpV && verb === 'v') return pad(truncate(goSyntaxOf(value), flags.precision), flags);
            return this.#isErroring || !stringVerbs.includes(verb)
              ? undefined
              : formatString(value.toString(), verb, flags);
          case 'complex':
          case 'map':
          case 'slice':
            return undefined;
        }
    }
  }

  #integer(value: GoInt, verb: string): string | undefined {
    const name =
      this.#isErroring || this.#flags.sharpV || !stringVerbs.includes(verb) ? undefined : nameOf(value);
    return name === undefined
      ? formatInteger(value.value, verb, this.#flags, value.type === 'uint8')
      : formatString(name, verb, this.#flags);
  }

  /** False when the verb does not fit. */
  #composite(value: Extract<Concrete, object>, verb: string): boolean {
    const { sharpV } = this.#flags;
    switch (value.kind) {
      case 'int':
        return false;
      case 'complex': {
        const real = formatFloatVerb(value.real, verb, this.#flags);
        const imaginary = formatFloatVerb(value.imaginary, verb, { ...this.#flags, plus: true });
        if (real === undefined || imaginary === undefined) return false;
        this.#sink.add(`(${real}${imaginary}i)`);
        return true;
      }
      case 'time':
        // The fields of Go's struct; the last is a pointer to its zone, nil for UTC.
        this.#list(
          '{',
          ' ',
          '}',
          [...timeFields(value), addressVerbs.includes(verb) ? nowhere : undefined],
          (field) => {
            this.#element(field, verb);
          },
        );
        return true;
      case 'map': {
        const [open, close] = sharpV ? [`${value.type}{`, '}'] : ['map[', ']'];
        this.#list(open, sharpV ? ', ' : ' ', close, value.sorted(), ([key, element]) => {
          this.#element(key, verb);
          this.#sink.add(':');
          this.#element(element, verb);
        });
        return true;
      }
      case 'slice': {
        const [open, close] = sharpV ? ['[]interface {}{', '}'] : ['[', ']'];
        this.#list(open, sharpV ? ', ' : ' ', close, value.items, (element) => {
          this.#element(element, verb);
        });
        return true;
      }
    }
  }

  #list<T>(
    open: string,
    separator: string,
    close: string,
    items: readonly T[],
    print: (item: T) => void,
  ): void {
    this.#sink.add(open);
    items.forEach((item, index) => {
      if (index > 0) this.#sink.add(separator);
      print(item);
    });
    this.#sink.add(close);
  }

  #element(boxed: GoValue, verb: string): void {
    const value = concrete(boxed);
    if (value !== undefined) this.#value(value, verb);
    else this.#sink.add(this.#flags.sharpV && boxed instanceof GoInterface ? 'interface {}(nil)' : '<nil>');
  }
}

/** Durations, months and weekdays print by name. */
function nameOf({ type, value }: GoInt): string | undefined {
  switch (type) {
    case 'time.Duration':
      return printGoDuration(value);
    case 'time.Month':
      return monthName(value);
    case 'time.Weekday':
      return weekdayName(value);
    case 'int':
    case 'int64':
    case 'uint8':
      return undefined;
  }
}

/** The numbers in Go's struct of a time, for verbs that do not use the String method. */
function timeFields({ nanosecond, unix }: GoTime): readonly GoValue[] {
  return [new GoInt(BigInt(nanosecond), 'int64'), new GoInt(BigInt(unix - unixOfYearOne), 'int64')];
}

type Flags = Readonly<Directive>;

/** A bool, number or text as a verb prints it; undefined when the verb does not fit the type. */
function formatBoolean(value: boolean, verb: string, flags: Flags): string | undefined {
  return verb === 't' || verb === 'v' ? pad(String(value), flags) : undefined;
}

function formatString(text: string, verb: string, flags: Flags): string | undefined {
  switch (verb) {
    case 'v':
      return flags.sharpV ? quoted(text, flags) : pad(truncate(text, flags.precision), flags);
    case 's':
      return pad(truncate(text, flags.precision), flags);
    case 'x':
    case 'X':
      return hexText(text, verb === 'X', flags);
    case 'q':
      return quoted(text, flags);
    default:
      return undefined;
  }
}

function quoted(text: string, flags: Flags): string {
  const cut = truncate(text, flags.precision);
  const isRaw = flags.sharp && canBackquote(cut);
  return pad(isRaw ? `\`${cut}\`` : quoteGoText(cut, flags.plus), flags);
}

function hexText(text: string, isUpper: boolean, flags: Flags): string {
  const bytes = toBytes(text).subarray(0, flags.precision);
  const digits = bytes.toString('hex');
  const prefix = flags.sharp && bytes.length > 0 ? '0x' : '';
  const spaced = flags.space ? digits.replaceAll(/..(?=.)/g, `$& ${prefix}`) : digits;
  return pad(isUpper ? (prefix + spaced).toUpperCase() : prefix + spaced, flags);
}

const bases = new Map([
  ['v', 10],
  ['d', 10],
  ['b', 2],
  ['o', 8],
  ['O', 8],
  ['x', 16],
  ['X', 16],
]);

/** `isUnsigned` only matters for `%#v`, which prints bytes in hexadecimal. */
function formatInteger(value: bigint, verb: string, flags: Flags, isUnsigned: boolean): string | undefined {
  switch (verb) {
    case 'c':
      return pad(String.fromCodePoint(characterOf(value)), flags);
    case 'q':
      return pad(quoteCharacter(characterOf(value), flags.plus), flags);
    case 'U':
      return pad(unicodeName(BigInt.asUintN(64, value), flags), flags, false);
    default: {
      const base = bases.get(verb);
      if (base === undefined) return undefined;
      const isHexByte = verb === 'v' && flags.sharpV && isUnsigned;
      return isHexByte
        ? digitsOf(value, 16, 'x', { ...flags, sharp: true })
        : digitsOf(value, base, verb, flags);
    }
  }
}

function digitsOf(value: bigint, base: number, verb: string, flags: Flags): string {
  const { precision, width } = flags;
  if (precision === 0 && value === 0n) return ' '.repeat(width ?? 0);
  const isNegative = value < 0n;
  const sign = isNegative ? '-' : flags.plus ? '+' : flags.space ? ' ' : '';
  let least = precision ?? 0;
  if (precision === undefined && flags.zero && !flags.minus) least = (width ?? 0) - sign.length;
  let digits = (isNegative ? -value : value).toString(base).padStart(least, '0');
  if (flags.sharp) {
    if (base === 2) digits = `0b${digits}`;
    if (base === 8 && !digits.startsWith('0')) digits = `0${digits}`;
    if (base === 16) digits = `0x${digits}`;
  }
  if (verb === 'O') digits = `0o${digits}`;
  return pad(sign + (verb === 'X' ? digits.toUpperCase() : digits), flags, false);
}

function characterOf(value: bigint): number {
  const code = value >= 0n && value <= 0x10ffffn ? Number(value) : 0xfffd;
  return isCharacter(code) ? code : 0xfffd;
}

function unicodeName(code: bigint, { precision, sharp }: Flags): string {
  const name = `U+${code
    .toString(16)
    .toUpperCase()
    .padStart(Math.max(precision ?? 4, 4), '0')}`;
  const isShown = sharp && code <= 0x10ffffn && isPrintable(Number(code));
  return isShown ? `${name} '${String.fromCodePoint(Number(code))}'` : name;
}

function formatFloatVerb(value: number, verb: string, flags: Flags): string | undefined {
  switch (verb) {
    case 'v':
      return padFloat(value, 'g', -1, 'v', flags);
    case 'b':
    case 'g':
    case 'G':
    case 'x':
    case 'X':
      return padFloat(value, verb, -1, verb, flags);
    case 'f':
    case 'e':
    case 'E':
      return padFloat(value, verb, 6, verb, flags);
    case 'F':
      return padFloat(value, 'f', 6, 'f', flags);
    default:
      return undefined;
  }
}

function padFloat(value: number, as: FloatVerb, fallback: number, verb: string, flags: Flags): string {
  const precision = flags.precision ?? fallback;
  const printed = formatFloat(value, as, precision);
  const isNegative = printed.startsWith('-');
  const size = isNegative || printed.startsWith('+') ? printed.slice(1) : printed;
  const sign = isNegative ? '-' : flags.plus ? '+' : flags.space ? ' ' : '';
  if (size === 'Inf' || size === 'NaN') {
    const isSigned = size === 'Inf' && sign === '';
    return pad((isSigned ? '+' : sign) + size, flags, false);
  }
  const digits = flags.sharp && verb !== 'b' ? keepZeros(size, verb, precision) : size;
  const isZeroFilled = flags.zero && !flags.minus && sign !== '' && flags.width !== undefined;
  if (!isZeroFilled) return pad(sign + digits, flags);
  return sign + digits.padStart(flags.width - 1, '0');
}

/** The flag `#`: always a decimal point, and for %g and %x trailing zeros. */
function keepZeros(size: string, verb: string, precision: number): string {
  const isHex = verb === 'x' || verb === 'X';
  const at = size.search(isHex ? /[pP]/ : /[eE]/);
  const mantissa = at < 0 ? size : size.slice(0, at);
  const tail = at < 0 ? '' : size.slice(at);
  const counts = verb === 'v' || verb === 'g' || verb === 'G' || verb === 'x';
  let missing = counts ? (precision === -1 ? 6 : precision) : 0;
  missing -= mantissa.replace('.', '').replace(/^0+/, '').length;
  let out = mantissa;
  if (!mantissa.includes('.')) {
    if (mantissa === '0') missing--;
    out += '.';
  }
  return out + '0'.repeat(Math.max(missing, 0)) + tail;
}

/** Go's Time.GoString: `time.Date(2024, time.June, 15, 12, 34, 56, 0, time.UTC)`. */
function goSyntaxOf(time: GoTime): string {
  const { year, month, day } = time.date;
  const second = time.secondOfDay;
  const clock = [Math.floor(second / 3600), Math.floor(second / 60) % 60, second % 60, time.nanosecond];
  const parts = [year, `time.${monthNames[month - 1] ?? ''}`, day, ...clock, time.zone.goName];
  return `time.Date(${parts.join(', ')})`;
}
