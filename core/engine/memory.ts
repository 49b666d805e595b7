/** Where something is kept as long as there is room and time. */
export interface Memory<Value> {
  get(key: string): Value | undefined;
  set(key: string, value: Value, bytes: number, ttlMs: number): unknown;
}
