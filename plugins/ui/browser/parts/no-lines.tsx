import type { JSX } from 'preact';
import { formatMoment } from '../model/format.js';
import { rangeTexts } from '../model/time-range.js';
import type { Answered, LogResult } from '../store/answers.js';
import { session } from '../store/session.js';
import { useStore } from '../store/store.js';

/** Possible reasons for an empty answer, with advice. */
export function NoLines({
  answered: { asked, range },
  result: { isUnknownTenant },
}: {
  readonly answered: Answered;
  readonly result: LogResult;
}): JSX.Element {
  const zone = useStore(session.store, (state) => state.settings.zone);
  const longer = (['24h', '7d'] as const).filter((name) => lengthOf[name] > range.endMs - range.startMs);
  return (
    <div class="panel empty">
      <h2>{isUnknownTenant ? `Tenant “${asked.tenant}” has no logs` : 'No lines'}</h2>
      <p>
        {isUnknownTenant
          ? 'It has had no labels for 24 hours. Is its name spelled right?'
          : `Nothing from ${formatMoment(range.startMs, zone)} to ${formatMoment(range.endMs, zone)} matches the query.`}
      </p>
      <p class="empty-actions">
        {!isUnknownTenant &&
          longer.map((name) => (
            <button key={name} type="button" class="button" onClick={() => session.run({ range: name })}>
              {rangeTexts[name]}
            </button>
          ))}
        <button type="button" class="button" onClick={() => session.run()}>
          Try again
        </button>
      </p>
    </div>
  );
}

const lengthOf = { '24h': 86_400_000, '7d': 604_800_000 } as const;
