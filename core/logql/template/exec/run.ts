import { byteLength } from '../../values/raw-bytes.js';
import { quoteGoText } from '../fmt/quote.js';
import type { Meter } from '../../pipeline/work-line.js';
import type { CallContext, ParameterType } from '../library/types.js';
import {
  type GoMap,
  type GoValue,
  concrete,
  GoInterface,
  staticTypeName,
  typeName,
  type Concrete,
} from '../values.js';
import { exceeded, formatLimits } from './limits.js';
import type { Place } from './place.js';

/** An error of a running template; the message is Go's. */
export class TemplateFault extends Error {
  override readonly name = 'TemplateFault';
}

interface Variable {
  readonly name: string;
  value: GoValue;
}

/** Characters of text that count as one step of work. */
const textPerStep = 128;

/** Nanoseconds per step. */
const stepCost = 300;
/** Steps are an estimate; after this many, the clock decides. Few templates get that far. */
const stepsPerTick = 4_000;

/** One formatting of one line. */
export class TemplateRun implements CallContext {
  readonly line: string;
  readonly timestampNs: bigint;
  readonly labels: GoMap;
  /** The template's name in errors. */
  readonly #file: string;
  readonly #source: string;
  /** Name of the running template, or of the running definition in it. */
  name: string;
  /** The node that errors name. */
  at: Place = { offset: 0, source: () => '' };
  variables: Variable[] = [];
  depth = 0;
  text = '';
  #work = 0;
  #tickAt = stepsPerTick;
  readonly #meter: Meter;

  constructor(
    template: { file: string; source: string; meter: Meter },
    labels: GoMap,
    line: string,
    timestampNs: bigint,
  ) {
    this.#file = template.file;
    this.#source = template.source;
    this.#meter = template.meter;
    this.name = template.file;
    this.labels = labels;
    this.line = line;
    this.timestampNs = timestampNs;
  }

  charge(steps: number): void {
    this.#work += steps;
    if (this.#work > formatLimits.steps) exceeded('execution');
    this.#meter.charge(steps * stepCost);
    if (this.#work < this.#tickAt) return;
    this.#tickAt = this.#work + stepsPerTick;
    this.#meter.tick();
  }

  chargeTime(nanoseconds: number): void {
    this.#meter.charge(nanoseconds);
  }

  tick(): void {
    this.#meter.tick();
  }

  chargeText(length: number): void {
    this.charge(1 + length / textPerStep);
  }

  write(text: string): void {
    this.chargeText(text.length);
    this.text += text;
    // A text has at least as many bytes as characters.
    if (this.text.length > formatLimits.output) exceeded('output');
  }

  declare(name: string, value: GoValue): void {
    this.variables.push({ name, value });
  }

  /** The innermost variable of that name. */
  variable(name: string): Variable {
    this.charge(this.variables.length / 64);
    for (let at = this.variables.length - 1; at >= 0; at--) {
      const found = this.variables[at];
      if (found?.name === name) return found;
    }
    return this.fail(`undefined variable: ${name}`);
  }

  /** Ends the template with an error at the current node. */
  fail(message: string): never {
    const { offset, source } = this.at;
    const before = this.#source.slice(0, offset);
    const line = before.split('\n').length;
    const column = byteLength(before.slice(before.lastIndexOf('\n') + 1));
    const where = `${this.#file}:${String(line)}:${String(column)}`;
    throw new TemplateFault(
      `template: ${where}: executing ${quoteGoText(this.name)} at <${source()}>: ${message}`,
    );
  }
}

export function typeText(type: ParameterType): string {
  if (type === 'any') return 'interface {}';
  return type === 'value' ? 'reflect.Value' : type;
}

/** Checks that a value fits a parameter type, and converts it for the function. */
export function checkedArgument(run: TemplateRun, value: GoValue, type: ParameterType): GoValue {
  if (type === 'value') return value;
  if (type === 'any') return concrete(value);
  if (value === undefined) return run.fail(`invalid value; expected ${type}`);
  const inner = concrete(value);
  if (inner !== undefined && fits(inner, type)) return inner;
  const shown = inner === undefined ? staticTypeName(value) : typeName(inner);
  return run.fail(`wrong type for value; expected ${type}; got ${shown}`);
}

function fits(value: Concrete, type: Exclude<ParameterType, 'any' | 'value'>): boolean {
  return typeName(value) === type;
}

/** True when a value is nil inside an interface. */
export function isNilInterface(value: GoValue): boolean {
  return value instanceof GoInterface && value.value === undefined;
}
