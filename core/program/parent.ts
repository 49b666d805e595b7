/** Set by the scripts of package.json to the process id of the npm that runs them. */
const parentVariable = 'REF_PROXY_PARENT';
const lookMs = 500;

/**
 * Calls back once when the npm that runs this process has ended: npm forwards SIGTERM and SIGINT, but not SIGHUP, and nothing when it is
 * killed; npx forwards signals to a shell that does not pass them on. A program started in another way only ends by signals.
 */
export function onParentsEnd(callback: () => void): () => void {
  const parent = isRunByNpx() ? process.ppid : Number(process.env[parentVariable] ?? '');
  if (!(parent > 0)) return () => undefined;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    callback();
  }, lookMs);
  return () => clearInterval(timer);
}

/** npx tells what it runs, in quotes of the shell; what that starts in turn inherits the variables. */
function isRunByNpx(): boolean {
  const { npm_lifecycle_event: event, npm_lifecycle_script: script = '' } = process.env;
  return event === 'npx' && /^['"]?ref-proxy\b/.test(script);
}
