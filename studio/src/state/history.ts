/** Steps back and forth between values. Changes that share a tag and follow each other quickly are one step. */
export class History<T> {
  private readonly past: T[] = [];
  private readonly future: T[] = [];
  private lastTag = '';
  private lastTime = -Infinity;

  constructor(
    private readonly limit = 200,
    private readonly togetherMilliseconds = 800,
    private readonly now: () => number = () => performance.now(),
  ) {}

  /** Says that `before` is about to be replaced. */
  push(before: T, tag = ''): void {
    const now = this.now();
    const same = tag !== '' && tag === this.lastTag && now - this.lastTime < this.togetherMilliseconds;
    this.lastTag = tag;
    this.lastTime = now;
    this.future.length = 0;
    if (same) return;
    this.past.push(before);
    if (this.past.length > this.limit) this.past.shift();
  }

  undo(current: T): T | undefined {
    return this.step(this.past, this.future, current);
  }

  redo(current: T): T | undefined {
    return this.step(this.future, this.past, current);
  }

  clear(): void {
    this.past.length = 0;
    this.future.length = 0;
    this.lastTag = '';
  }

  get canUndo(): boolean {
    return this.past.length > 0;
  }

  get canRedo(): boolean {
    return this.future.length > 0;
  }

  private step(from: T[], to: T[], current: T): T | undefined {
    const value = from.pop();
    if (value === undefined) return undefined;
    to.push(current);
    this.lastTag = '';
    return value;
  }
}
