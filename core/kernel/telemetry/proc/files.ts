/** Parsers for files of a proc folder; they return undefined if a file does not have the format of proc(5). */

/** The share of time in which some, or all, tasks waited. */
export interface Pressure {
  readonly who: 'some' | 'full';
  readonly window: '10s' | '60s' | '300s';
  readonly ratio: number;
}

/** The time of all processors since the start of the machine, in ticks. */
export type CpuTimes = Readonly<Record<'user' | 'system' | 'iowait' | 'total', number>>;

/** Parses the first line of `stat`: user, nice, system, idle, iowait, irq, softirq, steal; guest time is included in the first two. */
export function readCpuTimes(text: string): CpuTimes | undefined {
  const line = /^cpu +([\d ]+)/.exec(text)?.[1];
  if (line === undefined) return undefined;
  const [user = 0, nice = 0, system = 0, idle = 0, iowait = 0, irq = 0, softirq = 0, steal = 0] = line
    .trim()
    .split(/ +/)
    .map(Number);
  const busy = { user: user + nice, system: system + irq + softirq, iowait };
  return { ...busy, total: busy.user + busy.system + iowait + idle + steal };
}

/** The figures of `meminfo` in bytes. */
export const readMemory = namedNumbers(
  /^(\w+): +(\d+) kB$/gm,
  { totalBytes: 'MemTotal', freeBytes: 'MemFree', availableBytes: 'MemAvailable' },
  1024,
);

export const readIo = namedNumbers(/^(\w+): (\d+)$/gm, {
  readBytes: 'read_bytes',
  writtenBytes: 'write_bytes',
  reads: 'syscr',
  writes: 'syscw',
});

/** Sums all interfaces except loopback. */
export function readNetwork(
  text: string,
): { readonly receivedBytes: number; readonly sentBytes: number } | undefined {
  if (!/^Inter-\|/.test(text)) return undefined;
  let [receivedBytes, sentBytes] = [0, 0];
  for (const [, name, received, sent] of text.matchAll(/^ *([^\s:]+): *(\d+)(?: +\d+){7} +(\d+)/gm)) {
    if (name === 'lo') continue;
    receivedBytes += Number(received);
    sentBytes += Number(sent);
  }
  return { receivedBytes, sentBytes };
}

export function readPressure(text: string): readonly Pressure[] | undefined {
  const found: Pressure[] = [];
  for (const [, who, ten, sixty, threeHundred] of text.matchAll(
    /^(some|full) avg10=([\d.]+) avg60=([\d.]+) avg300=([\d.]+)/gm,
  )) {
    const percents = { '10s': ten, '60s': sixty, '300s': threeHundred } as const;
    for (const window of ['10s', '60s', '300s'] as const)
      found.push({ who: who === 'some' ? who : 'full', window, ratio: Number(percents[window]) / 100 });
  }
  return found.length === 0 ? undefined : found;
}

/** Parses the soft limit of file descriptors in `self/limits`. */
export function readMaxOpenFiles(text: string): number | undefined {
  const found = /^Max open files +(\d+|unlimited) /m.exec(text)?.[1];
  if (found === undefined) return undefined;
  return found === 'unlimited' ? Infinity : Number(found);
}

/** Makes a parser of lines with a name and a number; `wanted` are the names, all of which must be there. */
function namedNumbers<Key extends string>(
  form: RegExp,
  wanted: Readonly<Record<Key, string>>,
  factor = 1,
): (text: string) => Readonly<Record<Key, number>> | undefined {
  return (text) => {
    const found = new Map([...text.matchAll(form)].map(([, name = '', figure]) => [name, Number(figure)]));
    const figures = Object.entries<string>(wanted).map(
      ([key, name]) => [key, (found.get(name) ?? NaN) * factor] as const,
    );
    if (figures.some(([, figure]) => Number.isNaN(figure))) return undefined;
    // Made key by key from those wanted.
    return Object.fromEntries(figures) as Record<Key, number>;
  };
}
