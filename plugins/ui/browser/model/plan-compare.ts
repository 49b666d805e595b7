import { formatBytes, formatCount, formatMs } from './format.js';
import type { Flow } from './plan-flow.js';

/** A figure of two plans side by side. */
export interface ComparedFigure {
  readonly name: string;
  readonly first: string;
  readonly second: string;
  /** The change from the first to the second: `−80 %`, `+20 %`, `same`; empty for texts and unknown figures. */
  readonly change: string;
  /** The plan with less work; undefined for equal and unknown figures. */
  readonly less: 'first' | 'second' | undefined;
}

/** The differences of two plans, with the figures of their runs where both have run. */
export function compareFlows(first: Flow, second: Flow): readonly ComparedFigure[] {
  const figure = (
    name: string,
    of: (flow: Flow) => number | undefined,
    format: (value: number) => string,
  ): ComparedFigure => compared(name, of(first), of(second), format);
  return [
    figure('Rows from VictoriaLogs', ({ total }) => total?.rows, formatCount),
    figure('Bytes from VictoriaLogs', ({ total }) => total?.bytes, formatBytes),
    figure('Calls', ({ total }) => total?.calls, formatCount),
    figure(
      'Time in all',
      ({ total }) => total?.ms,
      (ms) => `${formatMs(ms)} ms`,
    ),
    figure('Parts that need the proxy', proxyParts, formatCount),
    words('Read as', readAs(first), readAs(second)),
  ];
}

function proxyParts({ lanes }: Flow): number {
  return lanes.reduce((sum, { proxy }) => sum + proxy.length, 0);
}

/** The strategies that have run, or that a run would try first. */
function readAs({ lanes }: Flow): string {
  const names = lanes.map(({ candidates }) => {
    const chosen = candidates.find(({ state }) => state === 'ran') ?? candidates[0];
    return chosen?.strategy ?? 'lines';
  });
  return names.length === 0 ? 'nothing to read' : names.join(', ');
}

function words(name: string, first: string, second: string): ComparedFigure {
  return { name, first, second, change: first === second ? 'same' : 'other', less: undefined };
}

function compared(
  name: string,
  first: number | undefined,
  second: number | undefined,
  format: (value: number) => string,
): ComparedFigure {
  const text = (value: number | undefined): string => (value === undefined ? '–' : format(value));
  const shown = { name, first: text(first), second: text(second) };
  if (first === undefined || second === undefined) return { ...shown, change: '', less: undefined };
  if (shown.first === shown.second) return { ...shown, change: 'same', less: undefined };
  return { ...shown, change: changeText(first, second), less: first < second ? 'first' : 'second' };
}

function changeText(first: number, second: number): string {
  const difference = second - first;
  const sign = difference < 0 ? '−' : '+';
  if (first === 0) return 'from none';
  const percent = (Math.abs(difference) / first) * 100;
  if (percent >= 1_000) return `× ${formatCount(second / first)}`;
  return `${sign}${percent < 1 ? '<1' : formatCount(percent)} %`;
}
