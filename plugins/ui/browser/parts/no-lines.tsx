import type { ComponentChildren, JSX } from 'preact';
import { editQuery, type Change } from '../api.js';
import { fixedRange, rangeLengths, rangeTexts, rangeThatReaches } from '../model/query/asked-range.js';
import { formatCounted, formatMoment } from '../model/format.js';
import { nearWords } from '../model/query/near.js';
import type { Answered, LogResult } from '../store/answers.js';
import { findReasons, maxSample, type EmptyReason } from '../store/empty-reason.js';
import { session } from '../store/session.js';
import { useStore } from '../store/store.js';
import { dataOf, useAnswer } from '../use-answer.js';

/** An answer without lines: why there are none, and what can be asked instead with a click. */
export function NoLines({
  answered,
  result: { isUnknownTenant },
}: {
  readonly answered: Answered;
  readonly result: LogResult;
}): JSX.Element {
  const { asked, range } = answered;
  const zone = useStore(session.store, (state) => state.settings.zone);
  const found = useAnswer(isUnknownTenant ? undefined : asked, (signal) => findReasons(asked, range, signal));
  const reasons = dataOf(found) ?? [];
  const isLooking = !isUnknownTenant && found.kind === 'asking';
  const longer = (['24h', '7d'] as const).filter((name) => rangeLengths[name] > range.endMs - range.startMs);
  return (
    <div class="panel empty">
      <h2>{isUnknownTenant ? `Tenant “${asked.tenant}” has no logs` : 'No lines'}</h2>
      {isUnknownTenant ? (
        <UnknownTenant tenant={asked.tenant} />
      ) : (
        <p>
          No line from {formatMoment(range.startMs, zone)} to {formatMoment(range.endMs, zone)} matches the
          query.
        </p>
      )}
      <div class="reasons" role="status">
        {isLooking && <p>Looking for the reason …</p>}
        {reasons.map((reason, index) => (
          <Reason key={index} reason={reason} query={asked.query} />
        ))}
      </div>
      <p class="empty-actions">
        {!isUnknownTenant &&
          !isLooking &&
          reasons.every(({ kind }) => kind !== 'stage' && kind !== 'range') &&
          longer.map((name) => (
            <button
              key={name}
              type="button"
              class="button"
              onClick={() => session.run({ range: name, from: '', to: '' })}
            >
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

/** A tenant without logs, and those of the history that are spelled like it. */
function UnknownTenant({ tenant }: { readonly tenant: string }): JSX.Element {
  const past = useStore(session.store, (state) => state.past);
  const near = nearWords(
    tenant,
    past.map(([name]) => name),
  );
  return (
    <>
      <p>It has had no labels for 24 hours. Is its name spelled right?</p>
      {near.length > 0 && (
        <p class="empty-actions">
          {near.map((name) => (
            <Click key={name} onClick={() => session.run({ tenant: name })}>
              Ask as {name}
            </Click>
          ))}
        </p>
      )}
    </>
  );
}

function Reason({ reason, query }: { readonly reason: EmptyReason; readonly query: string }): JSX.Element {
  switch (reason.kind) {
    case 'label':
      return (
        <Told
          text={
            <>
              No stream of this time has the label <code>{reason.name}</code>.
            </>
          }
        >
          {reason.near.map((name) => (
            <Edit
              key={name}
              query={query}
              changes={[{ change: 'rename', name: reason.name, value: name, of: 'stream' }]}
            >
              Use {name}
            </Edit>
          ))}
          <Edit query={query} changes={[{ change: 'without-label', name: reason.name }]}>
            Leave out {reason.name}
          </Edit>
        </Told>
      );
    case 'value':
      return (
        <Told
          text={
            <>
              <code>{reason.name}</code> has {formatCounted(reason.count, 'value')} in this time, none of them{' '}
              <code>{reason.value}</code>.{reason.near.length > 0 && ' Did you mean:'}
            </>
          }
        >
          {reason.near.map((value) => (
            <Edit
              key={value}
              query={query}
              changes={[{ change: 'keep', name: reason.name, value, of: 'stream' }]}
            >
              {value}
            </Edit>
          ))}
        </Told>
      );
    case 'together':
      return (
        <Told text="Each label has its value, but no stream with lines has all of them.">
          {reason.names.map((name) => (
            <Edit key={name} query={query} changes={[{ change: 'without-label', name }]}>
              Leave out {name}
            </Edit>
          ))}
        </Told>
      );
    case 'range':
      return <OtherTime reason={reason} />;
    case 'stage':
      return <Stage reason={reason} query={query} />;
  }
}

function OtherTime({
  reason: { at },
}: {
  readonly reason: Extract<EmptyReason, { readonly kind: 'range' }>;
}): JSX.Element {
  const zone = useStore(session.store, (state) => state.settings.zone);
  const reaching = rangeThatReaches(at.startMs, Date.now());
  return (
    <Told
      text={
        <>
          These streams have lines at another time; the nearest are from {formatMoment(at.startMs, zone)} to{' '}
          {formatMoment(at.endMs, zone)}.
        </>
      }
    >
      <Click onClick={() => session.run(fixedRange(at))}>Go there</Click>
      {reaching.range !== 'custom' && (
        <Click onClick={() => session.run(reaching)}>{rangeTexts[reaching.range]}</Click>
      )}
    </Told>
  );
}

const maxShown = 12;

function Stage({
  reason: { index, text, lines, field, error },
  query,
}: {
  readonly reason: Extract<EmptyReason, { readonly kind: 'stage' }>;
  readonly query: string;
}): JSX.Element {
  const read =
    lines >= maxSample
      ? `${maxSample} lines or more reach`
      : `${formatCounted(lines, 'line')} ${lines === 1 ? 'reaches' : 'reach'}`;
  const without: Change = { change: 'without-stage', value: String(index) };
  return (
    <Told
      text={
        <>
          {read} <code>{text}</code>, and none passes it
          {field === undefined ? (
            '.'
          ) : field.isMissing ? (
            <>
              : none {lines >= maxSample ? 'of those looked at ' : ''}has the field <code>{field.name}</code>
              {field.lacksParser ? ', and no parser such as | json or | logfmt stands before it' : ''}.{' '}
              {field.fields.length > 0 && `Fields that exist: ${listed(field.fields)}.`}
            </>
          ) : (
            <>
              : <code>{field.name}</code> is {listed(field.values)}.
            </>
          )}
          {error !== undefined && ` Lines have the error ${error}.`}
        </>
      }
    >
      {field?.isMissing === true &&
        field.near.map((name) => (
          <Edit
            key={name}
            query={query}
            changes={[{ change: 'rename', name: field.name, value: name, of: 'row' }]}
          >
            Use {name}
          </Edit>
        ))}
      {field?.isMissing === false &&
        field.values.slice(0, 4).map((value) => (
          <Edit
            key={value}
            query={query}
            changes={[without, { change: 'keep', name: field.name, value, of: 'row' }]}
          >
            {field.name} = {value === '' ? '(empty)' : value}
          </Edit>
        ))}
      <Edit query={query} changes={[without]}>
        Leave this filter out
      </Edit>
    </Told>
  );
}

function listed(texts: readonly string[]): string {
  const more = texts.length - maxShown;
  return `${texts.slice(0, maxShown).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

function Told({
  text,
  children,
}: {
  readonly text: ComponentChildren;
  readonly children: ComponentChildren;
}): JSX.Element {
  return (
    <div class="reason">
      <p>{text}</p>
      <p class="empty-actions">{children}</p>
    </div>
  );
}

function Click({
  onClick,
  children,
}: {
  readonly onClick: () => void;
  readonly children: ComponentChildren;
}): JSX.Element {
  return (
    <button type="button" class="button is-offer" onClick={onClick}>
      {children}
    </button>
  );
}

/** A button that changes the query on its tree, step by step, and runs it. */
function Edit({
  query,
  changes,
  children,
}: {
  readonly query: string;
  readonly changes: readonly Change[];
  readonly children: ComponentChildren;
}): JSX.Element {
  const edit = async (): Promise<void> => {
    let text = query;
    for (const change of changes) text = await editQuery(text, change);
    session.run({ query: text });
  };
  return <Click onClick={() => void edit().catch(() => session.run())}>{children}</Click>;
}
