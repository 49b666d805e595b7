/** Set by the scripts of package.json to the process id of the npm that runs them. */
const parentVariable = 'REF_PROXY_PARENT';
const lookMs = 500;

/**
 * Calls back once when the npm that runs this process has ended: npm forwards SIGTERM and SIGINT, but not SIGHUP, and nothing when it is
 * killed. A program started in another way only ends by signals.
 */
export function onParentsEnd(callback: () => void): () => void {
  const parent = Number(process.env[parentVariable] ?? '');
  if (!(parent > 0)) return () => undefined;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    callback();
  }, lookMs);
  return () => clearInterval(timer);
}
