/**
 * The text exposition format of Prometheus. Thousands of tenants produce a hundred thousand lines, so they are written in steps: a scrape
 * must not block requests.
 */
import { Registry } from 'prom-client';
import { eachAtPace, Pacer } from '../../base/pace/steps.js';
import { scrapedNames } from './names.js';
import type { Labels, Measurements } from './series.js';

export interface Exposition {
  readonly contentType: string;
  readonly text: string;
}

/** Prints all metrics as text, each under each of its names. */
export async function expose(all: Measurements): Promise<Exposition> {
  const pacer = new Pacer();
  const text = new TextInSteps();
  for (const { name, help, type, bounds, series } of all)
    for (const shown of scrapedNames(name)) {
      text.add(`# HELP ${shown} ${inOneLine(help)}\n# TYPE ${shown} ${type}\n`);
      await eachAtPace(series, pacer, ([labels, numbers]) => {
        const add = (suffix: string, of: Labels, value = 0): void =>
          text.add(`${shown}${suffix}${labelsText(of)} ${valueText(value)}\n`);
        for (const [at, le] of bounds.entries()) add('_bucket', { le: String(le), ...labels }, numbers[at]);
        if (bounds.length > 0) add('_sum', labels, numbers[bounds.length]);
        add(bounds.length > 0 ? '_count' : '', labels, numbers.at(-1));
      });
      text.add('\n');
    }
  return { contentType: Registry.PROMETHEUS_CONTENT_TYPE, text: text.done() };
}

/** Joins many short texts, a thousand at a time: joining all of them at the end would take as long as writing them. */
class TextInSteps {
  readonly #joined: string[] = [];
  #parts: string[] = [];

  add(part: string): void {
    if (this.#parts.push(part) >= 1_000) this.#join();
  }

  done(): string {
    this.#join();
    return this.#joined.join('');
  }

  #join(): void {
    this.#joined.push(this.#parts.join(''));
    this.#parts = [];
  }
}

function labelsText(labels: Labels): string {
  let text = '';
  for (const name in labels) text += `${text === '' ? '{' : ','}${name}="${quoted(labels[name] ?? '')}"`;
  return text === '' ? '' : `${text}}`;
}

function quoted(text: string): string {
  return /["\\\n]/.test(text) ? inOneLine(text).replaceAll('"', '\\"') : text;
}

function inOneLine(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
}

function valueText(value: number): string {
  if (Number.isFinite(value)) return String(value);
  if (Number.isNaN(value)) return 'NaN';
  return value < 0 ? '-Inf' : '+Inf';
}
