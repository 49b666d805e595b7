import { finishedAnswer, jsonAnswer } from '../../core/wire/answer/finished.js';
import type { ServingState, WorkerReload } from '../../core/kernel/plugin/host.js';
import type { Answer, Host, Topic } from '../../core/plugin/index.js';

/** The pipeline that a worker serves. */
export const servingTopic: Topic<null, ServingState> = { name: 'admin serving' };
const jsonType = 'application/json';
/** The file cannot be served as it is. */
const refusedStatus = 422;

/** `POST /admin/reload`: what came of it in each worker; 422 where one refused, and 503 where one gave no answer. */
export function reloadAnswer(workers: readonly WorkerReload[]): Answer {
  const reports = workers.flatMap((one) => ('report' in one ? [one.report] : []));
  const isRefused = reports.some(({ result }) => result === 'refused');
  const status = isRefused ? refusedStatus : reports.length < workers.length ? 503 : 200;
  const [first] = reports;
  const body = {
    result: isRefused ? 'refused' : (first?.result ?? 'missing'),
    hash: first?.hash ?? null,
    // The same file gives the same findings.
    findings: (reports.find(({ result }) => result === 'refused') ?? first)?.findings ?? [],
    workers: workers.map((one) =>
      'report' in one
        ? {
            worker: one.worker,
            result: one.report.result,
            hash: one.report.hash,
            generation: one.report.generation,
          }
        : one,
    ),
  };
  return finishedAnswer(status, Buffer.from(JSON.stringify(body)), jsonType);
}

/** `GET /admin/pipeline`: what is served, to be compared with other replicas. */
export async function pipelineAnswer(
  host: Pick<Host, 'serving' | 'workers' | 'describePipeline'>,
): Promise<Answer> {
  const own = host.serving();
  const [{ stages, endpoints, services }, { answers, missing }] = await Promise.all([
    host.describePipeline(),
    host.workers.gather(servingTopic, null),
  ]);
  const hashes = new Set(answers.map(({ answer }) => answer.hash));
  const placesOf = (parts: typeof stages): readonly object[] =>
    parts.map(({ id, name, at }) => ({ id, plugin: name, at }));
  return jsonAnswer(
    {
      file: own.file,
      hash: own.hash,
      // False while workers serve different pipelines, or one does not tell.
      agrees: hashes.size === 1 && missing.length === 0,
      stages: placesOf(stages),
      endpoints: placesOf(endpoints),
      services: placesOf(services),
      workers: answers.map(({ worker, answer }) => ({
        worker,
        hash: answer.hash,
        generation: answer.generation,
        started: timeOf(answer.startedMs),
        serving_since: timeOf(answer.servingSinceMs),
        draining: answer.draining,
        last_reload:
          answer.lastReload === undefined
            ? null
            : {
                at: timeOf(answer.lastReload.atMs),
                result: answer.lastReload.result,
                findings: answer.lastReload.findings,
              },
      })),
      missing,
    },
    jsonType,
  );
}

function timeOf(ms: number): string {
  return new Date(ms).toISOString();
}
