import { printGoDuration } from '../../../base/time/index.js';
import { goSyntaxOf } from '../time/go-syntax.js';
import { unixOfYearOne, type GoTime } from '../time/go-time.js';
import { monthName, weekdayName } from '../time/names.js';
import { concrete, GoInterface, typeName, GoInt, type Concrete, type GoValue } from '../values/value.js';
import { formatBoolean, formatFloatVerb, formatInteger, formatString } from './basic.js';
import { pad, truncate, type Directive } from './directive.js';
import type { Sink } from './sink.js';

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
