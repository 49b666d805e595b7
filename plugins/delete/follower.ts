import { randomUUID } from 'node:crypto';
import type { LogFields } from '../../core/base/logger.js';
import type { DeleteOptions } from '../../core/base/options.gen.js';
import {
  createFingerprint,
  type Fingerprint,
  type RunningDeletion,
  runningDeletions,
  type RunningDeletions,
} from '../../core/cache/keys.js';
import { fleetOf } from '../../core/cache/fleet.js';
import {
  ApiError,
  apiError,
  type Caller,
  type Host,
  type Tenant,
  type Topic,
} from '../../core/plugin/index.js';
import { errorTable } from '../../core/base/errors/table.js';
import type { DeletionTaken } from '../../core/victoria/upstream/types.js';
import { activeTasks, type ActiveTasks } from './active-tasks.js';
import { DeletionsFile } from './deletions-file.js';
import type { deleteMetrics } from './metrics.js';
import { PeerNotices } from './peer-notices.js';
import {
  printDeletions,
  readDeletions,
  readNotice,
  type KnownDeletions,
  type DeletionNotice,
} from './notices.js';
import { startTimer } from '../../core/base/time/waits.js';

type Outcome = 'finished' | 'refused' | 'given_up';

/** Maximum number of deletions followed at once. */
const maxFollowed = 1_000;
/** Maximum number of ended deletions that are remembered for replicas that missed the end, and their TTL. */
const maxEnded = 1_000;
const endedKeptMs = 7 * 86_400_000;
const offerName = 'deletions';
const askPeersMs = 1_000;
const growth = 1.5;
const maxPauses = 10;
/** Maximum number of attempts to find the deletions that are running at startup. */
const maxFirstTries = 10;
/** Replaces the ids of surplus deletions. */
const overflowId = 'too many';

const newsTopic: Topic<DeletionNotice, null> = { name: 'deletion' };

/**
 * Follows deletions until the backend has finished them. Until then, the caches of this process neither store nor serve answers that they
 * affect (core/cache/keys.ts); then all caches are purged. Every worker and replica that learns of a deletion follows it
 * independently.
 */
export class Follower {
  readonly #options: DeleteOptions;
  readonly #host: Host<typeof deleteMetrics>;
  readonly #running: RunningDeletions;
  readonly #mark: DeletionsFile | undefined;
  readonly #fingerprint: Fingerprint;
  /** Time of the end by id. */
  readonly #ended = new Map<string, number>();
  /** Time, by id, at which deletions count as ended if the backend does not report the end. */
  readonly #untilMs = new Map<string, number>();
  /** Deletions requested by clients of this process. */
  readonly #own = new Set<string>();
  readonly #peers: PeerNotices;
  readonly #stopped = new AbortController();
  #firstTries = 0;
  #isTicking = false;
  #pauseMs: number;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: DeleteOptions, host: Host<typeof deleteMetrics>) {
    this.#options = options;
    this.#host = host;
    this.#running = runningDeletions(host);
    this.#peers = new PeerNotices(host);
    this.#fingerprint = createFingerprint(options);
    this.#pauseMs = options.pollInterval;
    const { diskCachePath, patternsPersistPath, labelIndexPersistPath } = options;
    const beside = diskCachePath || patternsPersistPath || labelIndexPersistPath;
    this.#mark = beside === '' ? undefined : new DeletionsFile(`${beside}.deletions`, host.log);
    host.workers.answer(newsTopic, async (news) => {
      await this.#learn(news);
      return null;
    });
    const fleet = fleetOf(host);
    host.onStop(fleet.listen((text) => this.#heard(text)));
    host.onStop(fleet.offer(offerName, () => Promise.resolve(Buffer.from(printDeletions(this.#known())))));
  }

  /** Starts following. Cache entries on disk may be older than a deletion that only the file or the peers know. */
  async start(signal: AbortSignal): Promise<void> {
    const marked = await this.#mark?.read();
    let isStale = marked === 'unusable';
    if (marked !== undefined && marked !== 'unusable') {
      for (const [id, atMs] of marked.ended) this.#ended.set(id, atMs);
      for (const deletion of marked.running) {
        this.#add(deletion);
        // The previous process may not have notified all peers.
        this.#own.add(deletion.id);
      }
      isStale = marked.running.length > 0;
    }
    if (this.#mark !== undefined && (await this.#askPeers(signal))) isStale = true;
    if (isStale) {
      await this.#host.purgeHere('all');
      await this.#save();
    }
    this.#soon();
  }

  /** Sends a deletion requested by a client of this process, and follows it unless the backend has rejected it. */
  async around(
    tenant: Tenant,
    { orgId, headers }: Pick<Caller, 'orgId' | 'headers'>,
    send: () => Promise<DeletionTaken>,
  ): Promise<DeletionTaken> {
    if (this.#running.size >= maxFollowed) throw apiError('tooManyDeletions', { limit: maxFollowed });
    const deletion: RunningDeletion = {
      id: randomUUID(),
      begunMs: this.#host.clock.nowMs(),
      orgId,
      account: this.#accountOf(tenant, headers),
      taskId: undefined,
    };
    this.#own.add(deletion.id);
    // In this order, so that purged answers are not stored again, and a killed process has recorded everything that was sent.
    await this.#notifyWorkers({ phase: 'running', deletion });
    await Promise.all([this.#host.purge('all'), this.#notifyPeers({ phase: 'running', deletion })]);
    try {
      const taken = await send();
      await this.#notify({ phase: 'running', deletion: { ...deletion, taskId: taken.taskId } });
      return taken;
    } catch (error) {
      if (isRefusal(error)) await this.#notify({ phase: 'refused', deletion });
      throw error;
    }
  }

  /** Stops following, and leaves nothing in caches that a running deletion will invalidate. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    clearTimeout(this.#timer);
    if (this.#running.size > 0) await this.#host.purgeHere('all');
    await this.#save();
  }

  async #notify(news: DeletionNotice): Promise<void> {
    await this.#notifyWorkers(news);
    await this.#notifyPeers(news);
  }

  async #notifyWorkers(news: DeletionNotice): Promise<void> {
    await this.#host.workers.gather(newsTopic, news, { isOwed: true });
  }

  async #notifyPeers(news: DeletionNotice): Promise<void> {
    const isHeard = await this.#peers.tell(news);
    if (!isHeard && news.phase !== 'running') this.#own.delete(news.deletion.id);
    if (!this.#peers.haveHeard) this.#wait();
  }

  /** Handles a deletion announced by another replica. */
  async #heard(text: string): Promise<void> {
    let news: DeletionNotice;
    try {
      news = readNotice(text);
    } catch (error) {
      this.#host.log.warn('cannot read a deletion notice from a peer', { error });
      return;
    }
    await this.#notifyWorkers(news);
  }

  async #learn({ phase, deletion }: DeletionNotice): Promise<void> {
    const { id } = deletion;
    if (phase === 'running') {
      if (this.#ended.has(id)) return;
      this.#add(deletion);
      await this.#save();
      this.#soon();
      return;
    }
    if (this.#running.has(id)) await this.#end([[deletion, phase === 'ended' ? 'finished' : 'refused']]);
  }

  #add(deletion: RunningDeletion): void {
    const hasRoom = this.#running.size < maxFollowed || this.#running.has(deletion.id);
    if (hasRoom) this.#running.set(deletion.id, deletion);
    else {
      this.#host.log.warn(
        'too many concurrent deletions: caches stay off for all tenants until none is running',
        {
          'deletions.limit': maxFollowed,
        },
      );
      const begunMs = this.#host.clock.nowMs();
      this.#running.set(overflowId, { ...everyTenants, id: overflowId, begunMs });
    }
    this.#count();
  }

  #soon(): void {
    this.#pauseMs = this.#options.pollInterval;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#wait();
  }

  #wait(): void {
    if (this.#stopped.signal.aborted || this.#isTicking) return;
    this.#timer ??= startTimer(() => void this.#turn(), this.#pauseMs).unref();
  }

  async #turn(): Promise<void> {
    this.#timer = undefined;
    this.#isTicking = true;
    this.#pauseMs = Math.min(this.#pauseMs * growth, this.#options.pollInterval * maxPauses);
    try {
      await this.#look();
    } catch (error) {
      if (!this.#stopped.signal.aborted)
        this.#host.log.error('cannot follow the running deletions', { error });
    }
    this.#isTicking = false;
    if (this.#isFirst || this.#running.size > 0 || !this.#peers.haveHeard) this.#wait();
  }

  async #look(): Promise<void> {
    if (this.#isFirst) await this.#findRunning();
    const all = [...this.#running.values()];
    const ended: [RunningDeletion, Outcome][] = [];
    // A gateway may only show each tenant its own deletions.
    for (const orgId of new Set(all.map((deletion) => deletion.orgId))) {
      const deletions = all.filter((deletion) => deletion.orgId === orgId);
      const isAsked = deletions.some(({ id }) => !this.#untilMs.has(id));
      const active = isAsked ? await this.#activeTasks(orgId) : undefined;
      for (const deletion of deletions) {
        const outcome = this.#outcomeOf(deletion, active);
        if (outcome !== undefined) ended.push([deletion, outcome]);
      }
    }
    this.#stopped.signal.throwIfAborted();
    if (ended.length > 0) await this.#end(ended);
    await this.#peers.tellAgain();
  }

  /** The outcome of a deletion; undefined while it may be running. */
  #outcomeOf(deletion: RunningDeletion, active: ActiveTasks): Outcome | undefined {
    const { id, begunMs, taskId } = deletion;
    const { followTime, unconfirmedTime } = this.#options;
    const nowMs = this.#host.clock.nowMs();
    const untilMs = this.#untilMs.get(id);
    if (untilMs !== undefined) return nowMs >= untilMs ? 'given_up' : undefined;
    if (active === 'untold' || nowMs - begunMs > followTime) {
      this.#untilMs.set(id, nowMs + unconfirmedTime);
      this.#host.log.warn(
        'stopped waiting for a deletion: caches stay off for its tenant until unconfirmedTime has passed, and are then flushed',
        {
          ...fieldsOf(deletion),
          reason:
            active === 'untold' ? 'the backend does not report whether it has finished' : 'it takes too long',
          'deletion.off_ms': unconfirmedTime,
        },
      );
      return undefined;
    }
    if (active === undefined) return undefined;
    if (taskId !== undefined) return active.has(taskId) ? undefined : 'finished';
    // It may not have reached the backend yet.
    return active.size === 0 && nowMs - begunMs >= unconfirmedTime ? 'finished' : undefined;
  }

  async #end(ended: readonly (readonly [RunningDeletion, Outcome])[]): Promise<void> {
    const nowMs = this.#host.clock.nowMs();
    if (ended.some(([, outcome]) => outcome !== 'refused')) await this.#host.purgeHere('all');
    for (const [deletion, outcome] of ended) {
      const { id } = deletion;
      this.#untilMs.delete(id);
      if (!this.#running.delete(id)) continue;
      if (outcome !== 'refused') this.#rememberEnd(id, nowMs);
      this.#host.meters.deletions_ended_total.add(1, { outcome });
      this.#host.log.info('the proxy no longer follows a deletion', { ...fieldsOf(deletion), outcome });
    }
    this.#count();
    await this.#save();
    for (const [deletion, outcome] of ended)
      if (outcome !== 'refused' && this.#own.delete(deletion.id))
        await this.#notifyPeers({ phase: 'ended', deletion });
  }

  #rememberEnd(id: string, atMs: number): void {
    this.#ended.set(id, atMs);
    for (const [oldest, endedMs] of this.#ended) {
      if (this.#ended.size <= maxEnded && atMs - endedMs < endedKeptMs) return;
      this.#ended.delete(oldest);
    }
  }

  /**
   * Finds the deletions that are running at startup: the previous process may have been killed, or other replicas may have started them.
   */
  async #findRunning(): Promise<void> {
    this.#firstTries += 1;
    const active = await this.#activeTasks(undefined);
    if (active === undefined) return;
    this.#firstTries = maxFirstTries;
    if (active === 'untold') return;
    const known = new Set([...this.#running.values()].map(({ taskId }) => taskId));
    const others = [...active].filter((taskId) => !known.has(taskId));
    if (others.length === 0) return;
    const begunMs = this.#host.clock.nowMs();
    for (const taskId of others) this.#add({ ...everyTenants, id: `task ${taskId}`, begunMs, taskId });
    await this.#host.purgeHere('all');
    await this.#save();
  }

  get #isFirst(): boolean {
    return this.#firstTries < maxFirstTries;
  }

  #activeTasks(orgId: string | undefined): Promise<ActiveTasks> {
    return activeTasks(this.#host, orgId, this.#stopped.signal);
  }

  /** Requests the deletions known to peers; true if some were unknown here. */
  async #askPeers(signal: AbortSignal): Promise<boolean> {
    let isNews = false;
    const use = (bytes: Buffer): Promise<void> => {
      const { running, ended } = readDeletions(bytes.toString());
      for (const deletion of running) {
        if (this.#running.has(deletion.id) || this.#ended.has(deletion.id)) continue;
        this.#add(deletion);
        isNews = true;
      }
      for (const [id, atMs] of ended) {
        if (this.#ended.has(id)) continue;
        this.#rememberEnd(id, atMs);
        // A deletion that was running when this process was killed still needs its purge.
        isNews = true;
      }
      return Promise.resolve();
    };
    await fleetOf(this.#host).ask({ name: offerName, timeoutMs: askPeersMs, signal, use });
    return isNews;
  }

  /** The account of the deleted rows; undefined if a gateway may determine it from forwarded credentials. */
  #accountOf({ accountId, projectId }: Tenant, headers: Caller['headers']): RunningDeletion['account'] {
    return this.#fingerprint(headers) === undefined ? { accountId, projectId } : undefined;
  }

  #known(): KnownDeletions {
    return { running: [...this.#running.values()], ended: [...this.#ended] };
  }

  async #save(): Promise<void> {
    await this.#mark?.write(() => this.#known());
  }

  #count(): void {
    this.#host.meters.deletions_running.set(this.#running.size, {});
  }
}

const everyTenants = { orgId: undefined, account: undefined, taskId: undefined } as const;

/** True if the backend has answered that it does not accept the deletion. */
function isRefusal(error: unknown): boolean {
  const origin = error instanceof ApiError && error.entry === errorTable.deleteFailed ? error.cause : error;
  return origin instanceof ApiError && origin.entry === errorTable.backendRefused && origin.status < 500;
}

function fieldsOf({ id, taskId, orgId }: RunningDeletion): LogFields {
  return { 'deletion.id': id, 'delete.task_id': taskId, 'ref.tenant.id': orgId };
}
