/**
 * The text exposition format of Prometheus. Thousands of tenants produce a hundred thousand lines, so they are written in steps: a scrape
 * must not block requests.
 */
import { Registry } from 'prom-client';
import { Pacer } from '../../base/pace/steps.js';
import { scrapedNames } from './names.js';

/** The measurements of one process as data. */
export type Measurements = Awaited<ReturnType<Registry['getMetricsAsJSON']>>;

export interface Exposition {
  readonly contentType: string;
  readonly text: string;
}

type Measured = Measurements[number];
/** prom-client's types lack the names that values of histograms have. */
type Sample = Measured['values'][number] & { readonly metricName?: string };

/** Prints all metrics as text, each under each of its names. */
export async function expose(all: Measurements): Promise<Exposition> {
  const pacer = new Pacer();
  const text = new TextInSteps();
  for (const measured of all)
    for (const name of scrapedNames(measured.name)) {
      // prom-client's types number the kinds of metrics, while its data names them.
      text.add(`# HELP ${name} ${inOneLine(measured.help)}\n# TYPE ${name} ${String(measured.type)}\n`);
      const samples: readonly Sample[] = measured.values;
      for (const sample of samples) {
        const suffix = (sample.metricName ?? measured.name).slice(measured.name.length);
        text.add(`${name}${suffix}${labelsText(sample)} ${valueText(sample.value)}\n`);
        const due = pacer.due();
        if (due !== undefined) await due;
      }
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

function labelsText({ labels }: Sample): string {
  let text = '';
  for (const name in labels)
    text += `${text === '' ? '{' : ','}${name}="${quoted(String(labels[name] ?? ''))}"`;
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
