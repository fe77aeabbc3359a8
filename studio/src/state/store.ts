/** State that can be watched: listeners hear of the keys that they name, once a change. */
export class Store<S extends object> {
  private current: S;
  private readonly listeners = new Set<{ keys: (keyof S)[]; call: (state: Readonly<S>) => void }>();

  constructor(initial: S) {
    this.current = initial;
  }

  get state(): Readonly<S> {
    return this.current;
  }

  set(patch: Partial<S>): void {
    const keys = (Object.keys(patch) as (keyof S)[]).filter((key) => !Object.is(this.current[key], patch[key]));
    if (keys.length === 0) return;
    this.current = { ...this.current, ...patch };
    for (const listener of [...this.listeners]) {
      if (listener.keys.some((key) => keys.includes(key))) listener.call(this.current);
    }
  }

  /** Calls at once, and whenever one of the keys changes. */
  watch(keys: (keyof S)[], call: (state: Readonly<S>) => void): () => void {
    const stop = this.on(keys, call);
    call(this.current);
    return stop;
  }

  on(keys: (keyof S)[], call: (state: Readonly<S>) => void): () => void {
    const listener = { keys, call };
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }
}
