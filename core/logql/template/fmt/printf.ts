import { exceeded, formatLimits, type FormatLimit } from '../exec/limits.js';
import { concrete, GoInt, typeName, type GoValue } from '../values.js';
import { newDirective, plainDirective, type Directive, Sink } from './directive.js';
import { formatFloatShort } from '../../../base/time/index.js';
import { joined } from '../../values/raw-bytes.js';
import { ValuePrinter } from './value.js';

/** Go's limit on width and precision. */
const tooLarge = 1_000_000;

/**
 * Go's fmt.Sprintf, including its messages about verbs and arguments.
 * @throws ApiError when the text or a width exceeds the limits
 */
export function sprintf(format: string, args: readonly GoValue[]): string {
  return new Formatter(format, args).run();
}

class Formatter {
  readonly #format: string;
  readonly #args: readonly GoValue[];
  readonly #sink = new Sink(formatLimits.printf, 'printf');
  #at = 0;
  #next = 0;
  #isReordered = false;
  #isGoodIndex = true;
  /** True when the previous piece was an index such as `[3]`. */
  #isAfterIndex = false;

  constructor(format: string, args: readonly GoValue[]) {
    this.#format = format;
    this.#args = args;
  }

  run(): string {
    const format = this.#format;
    while (this.#at < format.length) {
      const percent = format.indexOf('%', this.#at);
      const end = percent < 0 ? format.length : percent;
      if (end > this.#at) this.#sink.add(format.slice(this.#at, end));
      if (percent < 0) break;
      this.#at = percent + 1;
      this.#directive();
    }
    if (!this.#isReordered && this.#next < this.#args.length) this.#extra();
    return joined(this.#sink.text);
  }

  #directive(): void {
    this.#startDirective();
    const flags = newDirective();
    this.#flags(flags);
    this.#index();
    this.#width(flags);
    this.#precision(flags);
    if (!this.#isAfterIndex) this.#index();
    const code = this.#format.codePointAt(this.#at);
    if (code === undefined) {
      this.#sink.add('%!(NOVERB)');
      return;
    }
    const verb = String.fromCodePoint(code);
    this.#at += verb.length;
    if (verb === '%') this.#sink.add('%');
    else if (!this.#isGoodIndex) this.#sink.add(`%!${verb}(BADINDEX)`);
    else if (this.#next >= this.#args.length) this.#sink.add(`%!${verb}(MISSING)`);
    else this.#print(flags, verb);
  }

  #startDirective(): void {
    this.#isGoodIndex = true;
    this.#isAfterIndex = false;
  }

  #print(flags: Directive, verb: string): void {
    if (verb === 'v' || verb === 'w') {
      flags.sharpV = flags.sharp;
      flags.sharp = false;
      flags.plusV = flags.plus;
      flags.plus = false;
    }
    new ValuePrinter(this.#sink, flags).argument(this.#args[this.#next], verb);
    this.#next++;
  }

  #flags(flags: Directive): void {
    for (; ; this.#at++) {
      switch (this.#format[this.#at]) {
        case '#':
          flags.sharp = true;
          break;
        case '0':
          flags.zero = true;
          break;
        case '+':
          flags.plus = true;
          break;
        case '-':
          flags.minus = true;
          break;
        case ' ':
          flags.space = true;
          break;
        default:
          return;
      }
    }
  }

  #width(flags: Directive): void {
    if (this.#format[this.#at] !== '*') {
      flags.width = this.#number();
      if (this.#isAfterIndex && flags.width !== undefined) this.#isGoodIndex = false;
      return;
    }
    this.#at++;
    const width = this.#star();
    if (width === undefined) this.#sink.add('%!(BADWIDTH)');
    else if (width < 0) {
      flags.minus = true;
      flags.zero = false;
    }
    flags.width = width === undefined ? undefined : Math.abs(width);
    this.#isAfterIndex = false;
  }

  #precision(flags: Directive): void {
    // A point at the end of the format is a verb.
    if (this.#format[this.#at] !== '.' || this.#at + 1 >= this.#format.length) return;
    this.#at++;
    if (this.#isAfterIndex) this.#isGoodIndex = false;
    this.#index();
    if (this.#format[this.#at] !== '*') {
      flags.precision = this.#number() ?? 0;
      return;
    }
    this.#at++;
    const precision = this.#star();
    flags.precision = precision !== undefined && precision >= 0 ? precision : undefined;
    if (flags.precision === undefined) this.#sink.add('%!(BADPREC)');
    this.#isAfterIndex = false;
  }

  #number(): number | undefined {
    const digits = /[0-9]*/y;
    digits.lastIndex = this.#at;
    const text = digits.exec(this.#format)?.[0] ?? '';
    this.#at += text.length;
    return text === '' ? undefined : bounded(Number(text));
  }

  /** The argument for `*`; undefined when it is not an int of reasonable size. */
  #star(): number | undefined {
    if (this.#next >= this.#args.length) return undefined;
    const value = concrete(this.#args[this.#next]);
    this.#next++;
    if (!(value instanceof GoInt)) return undefined;
    const size = Number(value.value);
    return Math.abs(size) > tooLarge ? undefined : bounded(size);
  }

  /** An explicit index, `[2]`. */
  #index(): void {
    this.#isAfterIndex = false;
    if (this.#format[this.#at] !== '[') return;
    this.#isReordered = true;
    const close = this.#format.indexOf(']', this.#at + 1);
    const digits = close < 0 ? '' : this.#format.slice(this.#at + 1, close);
    this.#at = close < 0 ? this.#at + 1 : close + 1;
    const isNumber = /^[0-9]{1,7}$/.test(digits);
    const index = Number(digits) - 1;
    this.#isAfterIndex = isNumber;
    if (isNumber && index >= 0 && index < this.#args.length) this.#next = index;
    else this.#isGoodIndex = false;
  }

  #extra(): void {
    this.#sink.add('%!(EXTRA ');
    this.#args.slice(this.#next).forEach((arg, index) => {
      if (index > 0) this.#sink.add(', ');
      const value = concrete(arg);
      if (value !== undefined) this.#sink.add(`${typeName(value)}=`);
      new ValuePrinter(this.#sink, plainDirective).argument(value, 'v');
    });
    this.#sink.add(')');
  }
}

function bounded(size: number): number {
  if (Math.abs(size) > formatLimits.printfWidth) exceeded('printf width');
  return size;
}

/** Go's fmt.Sprint: a space between two arguments unless one of them is a string. */
export function sprint(args: readonly GoValue[]): string {
  const sink = new Sink(formatLimits.functionOutput, 'print input');
  const printer = new ValuePrinter(sink, plainDirective);
  let isAfterString = true;
  args.forEach((arg) => {
    const isString = typeof concrete(arg) === 'string';
    if (!isString && !isAfterString) sink.add(' ');
    printer.argument(arg, 'v');
    isAfterString = isString;
  });
  return joined(sink.text);
}

/** Go's fmt.Sprintln. */
export function sprintln(args: readonly GoValue[]): string {
  const sink = new Sink(formatLimits.functionOutput, 'print input');
  const printer = new ValuePrinter(sink, plainDirective);
  args.forEach((arg, index) => {
    if (index > 0) sink.add(' ');
    printer.argument(arg, 'v');
  });
  sink.add('\n');
  return joined(sink.text);
}

/** Prints a value as an action does. */
export function printed(boxed: GoValue, limit: FormatLimit): string {
  const value = concrete(boxed);
  switch (typeof value) {
    case 'string':
      return value;
    case 'number':
      return formatFloatShort(value);
    case 'boolean':
      return String(value);
    case 'undefined':
      return '<no value>';
    case 'object': {
      const sink = new Sink(formatLimits.output, limit);
      new ValuePrinter(sink, plainDirective).argument(value, 'v');
      return sink.text;
    }
  }
}
