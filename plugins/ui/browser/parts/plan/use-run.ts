import { useEffect, useState } from 'preact/hooks';
import { fetchRun } from '../../api.js';
import type { RunReport } from '../../model/wire.js';

/** The report of a run, if the server knows it. */
export type ToldRun = RunReport | 'asking' | 'unknown';

/** Asks for the report of a run by its name. */
export function useRun(name: string | undefined): ToldRun {
  const [told, tell] = useState<ToldRun>('asking');
  useEffect(() => {
    if (name === undefined) return undefined;
    let isCurrent = true;
    tell('asking');
    fetchRun(name).then(
      (report) => isCurrent && tell(report ?? 'unknown'),
      () => isCurrent && tell('unknown'),
    );
    return () => {
      isCurrent = false;
    };
  }, [name]);
  return told;
}

/** The report as such; undefined while it is not known. */
export function reportOf(told: ToldRun): RunReport | undefined {
  return typeof told === 'string' ? undefined : told;
}
