/** Parsers for files of a proc folder; they return undefined if a file does not have the format of proc(5). */

/** Time of all processors since the start of the machine, in ticks. */
export interface CpuTimes {
  readonly user: number;
  readonly system: number;
  readonly iowait: number;
  readonly total: number;
}

export interface Memory {
  readonly totalBytes: number;
  readonly freeBytes: number;
  readonly availableBytes: number;
}

export interface Io {
  readonly readBytes: number;
  readonly writtenBytes: number;
  readonly reads: number;
  readonly writes: number;
}

export interface Network {
  readonly receivedBytes: number;
  readonly sentBytes: number;
}

/** The share of time in which some, or all, tasks waited. */
export interface Pressure {
  readonly who: 'some' | 'full';
  readonly window: '10s' | '60s' | '300s';
  readonly ratio: number;
}

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

export function readMemory(text: string): Memory | undefined {
  const kilobytes = namedNumbers(text, /^(\w+): +(\d+) kB$/gm);
  const [total, free, available] = [
    kilobytes.get('MemTotal'),
    kilobytes.get('MemFree'),
    kilobytes.get('MemAvailable'),
  ];
  if (total === undefined || free === undefined || available === undefined) return undefined;
  return { totalBytes: total * 1024, freeBytes: free * 1024, availableBytes: available * 1024 };
}

export function readIo(text: string): Io | undefined {
  const figures = namedNumbers(text, /^(\w+): (\d+)$/gm);
  const [readBytes, writtenBytes, reads, writes] = [
    figures.get('read_bytes'),
    figures.get('write_bytes'),
    figures.get('syscr'),
    figures.get('syscw'),
  ];
  if (readBytes === undefined || writtenBytes === undefined) return undefined;
  if (reads === undefined || writes === undefined) return undefined;
  return { readBytes, writtenBytes, reads, writes };
}

/** Sums all interfaces except loopback. */
export function readNetwork(text: string): Network | undefined {
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

function namedNumbers(text: string, form: RegExp): ReadonlyMap<string, number> {
  return new Map([...text.matchAll(form)].map(([, name = '', figure]) => [name, Number(figure)]));
}
