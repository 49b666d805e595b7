/** Where log lines go: a stream such as stdout. */
export interface LogDestination {
  write(text: string): boolean;
  once(event: 'drain', listener: () => void): unknown;
}

/** Takes finished log lines. */
export interface LogWriter {
  write(line: string): void;
  /** Writes what is buffered; for the end of the process. */
  flush(): void;
}

/** Writes every line at once. */
export function directWriter(destination: LogDestination): LogWriter {
  return { write: (line) => void destination.write(line), flush: () => undefined };
}

const maxBufferedBytes = 4 * 1024 * 1024;
const chunkBytes = 64 * 1024;

/**
 * Collects lines and writes them between two turns of the event loop, in few large writes. When the destination does not keep
 * up the buffer stops growing at its bound: further lines are counted and reported instead of held.
 */
export function bufferedWriter(
  destination: LogDestination,
  lostLine: (count: number) => string,
  maxBytes = maxBufferedBytes,
): LogWriter {
  let lines: string[] = [];
  let bytes = 0;
  let lost = 0;
  let isBlocked = false;
  let isScheduled = false;

  const flush = (): void => {
    isScheduled = false;
    if (isBlocked) return;
    if (lost > 0) {
      lines.push(lostLine(lost));
      lost = 0;
    }
    if (lines.length === 0) return;
    const text = lines.join('');
    lines = [];
    bytes = 0;
    if (destination.write(text)) return;
    isBlocked = true;
    destination.once('drain', () => {
      isBlocked = false;
      flush();
    });
  };

  return {
    write: (line) => {
      if (bytes + line.length > maxBytes) {
        lost += 1;
        return;
      }
      lines.push(line);
      bytes += line.length;
      if (isScheduled || isBlocked) return;
      if (bytes >= chunkBytes) {
        flush();
        return;
      }
      isScheduled = true;
      setImmediate(flush);
    },
    flush,
  };
}
