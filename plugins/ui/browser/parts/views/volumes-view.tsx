import type { JSX } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { fetchLabels } from '../../api.js';
import { fetchOutline, fetchVolumes, fetchVolumeSeries } from '../../discovery.js';
import { formatBytes, formatCount } from '../../model/format.js';
import { nextLabel, type CountedValue } from '../../model/label-values.js';
import { seriesOf, withOwnColours } from '../../model/series.js';
import { nsRange, onSteps, stepOf, type TimeRange } from '../../model/time-range.js';
import type { QueryOutline } from '../../model/wire.js';
import type { Answered } from '../../store/answers.js';
import { session } from '../../store/session.js';
import { useAnswer } from '../../use-answer.js';
import { SeriesChart } from '../series-chart.js';
import { ValueBar } from '../side/facets.js';

const maxBars = 60;
const mostListed = 100;

/** The bytes of logs by the values of a label, for the streams of the query's selector. */
export function VolumesView({ answered }: { readonly answered: Answered }): JSX.Element {
  const { asked, range } = answered;
  const scope = { tenant: asked.tenant, range: nsRange(range) };
  const key = [asked.tenant, asked.query, range.startMs, range.endMs].join('\n');
  const found = useAnswer(key, async (signal) => {
    const outline = await fetchOutline(asked.query, signal);
    const labels = outline.selector === '' ? [] : await fetchLabels(outline.selector, { ...scope, signal });
    return { outline, labels };
  });
  if (found.kind === 'asking') return <p class="asking">Looking for labels …</p>;
  if (found.kind === 'failed') return <p class="notice">No volumes: {found.text}</p>;
  const { outline, labels } = found.data;
  if (labels.length === 0)
    return (
      <p class="panel empty">
        {outline.selector === ''
          ? 'This query reads no lines.'
          : 'No streams match the selector in this range.'}
      </p>
    );
  return <VolumesBy key={key} answered={answered} outline={outline} labels={labels} />;
}

function VolumesBy({
  answered: { asked, range },
  outline,
  labels,
}: {
  readonly answered: Answered;
  readonly outline: QueryOutline;
  readonly labels: readonly string[];
}): JSX.Element {
  const [label, choose] = useState(() => nextLabel(labels, outline.labels));
  const stepSeconds = stepOf(range, maxBars);
  const shown = useMemo(() => onSteps(range, stepSeconds), [range, stepSeconds]);
  const scope = { tenant: asked.tenant, range: nsRange(range) };
  const { selector } = outline;
  const volumes = useAnswer(label, (signal) => fetchVolumes(selector, label, scope, signal));
  const series = useAnswer(label, (signal) =>
    fetchVolumeSeries(selector, label, stepSeconds, { ...scope, range: nsRange(shown) }, signal),
  );
  return (
    <>
      <div class="series-head">
        <label class="field">
          <span>Volume by</span>
          <select value={label} onChange={(event) => choose(event.currentTarget.value)}>
            {labels.map((name) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
          </select>
        </label>
        <p class="drawn" role="status">
          {volumes.kind === 'answered' &&
            `${formatBytes(volumes.data.reduce((sum, { count }) => sum + (count ?? 0), 0))} of lines in ${selector}`}
        </p>
      </div>
      {series.kind === 'failed' && <p class="notice">No chart: {series.text}</p>}
      {series.kind === 'answered' && series.data.length > 0 && (
        <VolumeChart label={label} answer={series.data} range={shown} stepSeconds={stepSeconds} />
      )}
      {volumes.kind === 'failed' && <p class="notice">No volumes: {volumes.text}</p>}
      {volumes.kind === 'asking' && <p class="asking">Adding volumes up …</p>}
      {volumes.kind === 'answered' && <VolumeTable label={label} volumes={volumes.data} />}
    </>
  );
}

function VolumeChart({
  label,
  answer,
  range,
  stepSeconds,
}: {
  readonly label: string;
  readonly answer: Parameters<typeof seriesOf>[0];
  readonly range: TimeRange;
  readonly stepSeconds: number;
}): JSX.Element {
  const series = useMemo(() => withOwnColours(seriesOf(answer)), [answer]);
  return (
    <SeriesChart
      title={`Volume by ${label} over time`}
      series={series}
      range={range}
      stepSeconds={stepSeconds}
      form="bars"
      isLog={false}
      unit="bytes"
      onZoom={(part) => {
        session.zoom(part);
        session.showTab('volumes');
      }}
    />
  );
}

function VolumeTable({
  label,
  volumes,
}: {
  readonly label: string;
  readonly volumes: readonly CountedValue[];
}): JSX.Element {
  const most = Math.max(1, ...volumes.map(({ count }) => count ?? 0));
  const all = Math.max(
    1,
    volumes.reduce((sum, { count }) => sum + (count ?? 0), 0),
  );
  if (volumes.length === 0) return <p class="panel empty">No stream has the label {label}.</p>;
  return (
    <div class="panel table volumes">
      <table>
        <caption class="visually-hidden">Volume by {label}</caption>
        <thead>
          <tr>
            <th scope="col">{label}</th>
            <th scope="col" class="number">
              Volume
            </th>
            <th scope="col" class="number">
              Share
            </th>
          </tr>
        </thead>
        <tbody>
          {volumes.slice(0, mostListed).map(({ value, count = 0 }) => (
            <tr key={value}>
              <th scope="row">
                <button
                  type="button"
                  class="series-name"
                  title={`Only ${label} = ${value}, then by the next label`}
                  onClick={() => void drill(label, value)}
                >
                  <code>{value}</code>
                </button>
                <ValueBar part={count / most} />
              </th>
              <td class="number">{formatBytes(count)}</td>
              <td class="number">{((count / all) * 100).toFixed(1)}%</td>
            </tr>
          ))}
        </tbody>
      </table>
      {volumes.length > mostListed && (
        <p class="quiet view-note">
          The {mostListed} greatest of {formatCount(volumes.length)} values.
        </p>
      )}
    </div>
  );
}

/** Narrows the selector to a value, and stays with volumes. */
async function drill(name: string, value: string): Promise<void> {
  await session.change({ change: 'choose', name, value: [value], of: 'stream' });
  session.showTab('volumes');
}
