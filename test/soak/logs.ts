const perPush = 20_000;

/** Loads the logs of the day before `nowMs` into a backend: 200 streams of access logs. */
export async function pushDay(url: string, account: number, rows: number, nowMs: number): Promise<void> {
  const dayMs = 24 * 3_600_000;
  for (let at = 0; at < rows; at += perPush) {
    const lines = Array.from({ length: Math.min(perPush, rows - at) }, (_none, index) => {
      const row = at + index;
      const pod = row % 200;
      const level = ['info', 'info', 'info', 'warn', 'error'][row % 5];
      return JSON.stringify({
        _time: `${Math.floor(nowMs - dayMs + (row * dayMs) / rows)}000000`,
        app: `app-${pod % 20}`,
        pod: `pod-${pod}`,
        namespace: `ns-${pod % 7}`,
        level,
        _msg: `level=${level} method=GET path=/api/v1/orders/${row % 5000} status=${row % 50 === 0 ? 500 : 200} duration=${row % 997}ms bytes=${row % 65536}`,
      });
    });
    const fields = '_stream_fields=app,pod,namespace&_time_field=_time&_msg_field=_msg';
    const answer = await fetch(`${url}/insert/jsonline?${fields}`, {
      method: 'POST',
      headers: { accountid: String(account) },
      body: lines.join('\n'),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`the backend refused a push: ${answer.status} ${text}`);
  }
}
